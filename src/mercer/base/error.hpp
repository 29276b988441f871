// What the library throws. Bad input is an exception that a person can act on; a numerical outcome
// (not converged, out of time) is never an exception but a status in the result.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#include "mercer/base/export.hpp"

namespace mercer MERCER_API {

/// Where in a text a mistake stands. Lines and columns count from 1; 0 means "not known".
struct Location {
    std::string file;
    std::size_t line = 0;
    std::size_t column = 0;

    /// "a9a.txt:12:7", leaving out what is not known.
    std::string text() const;
};

/// Input that cannot be used: a malformed file, a parameter out of range, an unreadable model.
/// `what()` names the place, the value found, what was expected and, where there is one, the
/// remedy.
class InvalidInput : public std::runtime_error {
   public:
    explicit InvalidInput(const std::string& message) : std::runtime_error(message) {}
    InvalidInput(const Location& where, const std::string& message)
        : std::runtime_error(where.text() + ": " + message), location_(where) {}

    const Location& location() const { return location_; }

   private:
    Location location_;
};

/// A setting that no machine can have, whatever the data: C = -1. A search that meets one ends
/// there and says so; of other mistakes it only says which point they spoilt.
class InvalidSetting : public InvalidInput {
   public:
    using InvalidInput::InvalidInput;
};

/// Throws InvalidSetting "name = value must be range" unless `fine` and the value is finite.
void require_range(const std::string& name, double value, bool fine, const std::string& range);

/// Thrown out of long work whose `Progress` asked it to stop. Solvers catch it and return the
/// status "cancelled" with what they have; work without a partial result lets it pass.
class Cancelled : public std::runtime_error {
   public:
    Cancelled() : std::runtime_error("cancelled") {}
};

}  // namespace mercer
