"""What the estimators share: arrays, parameters, reports, calls into the library."""
