"""All cases by name, in the order in which they are run."""

from bench.machine_cases import groups, risk, support
from bench.machine_cases.rules import Case

CASES: dict[str, Case] = {
    case.name: case for case in (*groups.CASES, *risk.CASES, *support.CASES)
}
