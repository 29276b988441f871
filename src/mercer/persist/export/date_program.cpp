// The parts of a date as operations: what data/table/recipe.cpp makes of a day. The calendar is
// that of tables::civil_from_days (years that begin in March, so that the leap day is the last), by
// floors of quotients, which are exact in double precision and also in single for every year that a
// table has.
#include <numbers>

#include "mercer/persist/export/detail/compile.hpp"

namespace mercer::exports {
namespace {

constexpr double days_a_year = 365.2425;

class DateCompiler {
   public:
    explicit DateCompiler(Program& program) : p_(program) {}

    /// floor(a / b).
    Value whole(Value a, double b) {
        return p_.apply(Op::floor, p_.apply(Op::divide, a, p_.constant(b)));
    }
    /// a − b floor(a / b).
    Value rest(Value a, double b) { return p_.apply(Op::subtract, a, p_.times(whole(a, b), b)); }
    /// 1 for numbers of which nothing is left when they are divided by `b`.
    Value divides(Value a, double b) { return p_.apply(Op::at_most, rest(a, b), p_.constant(0.5)); }

    /// Days since the first of January.
    Value day_of_year(Value day) {
        const Value of_era = rest(p_.plus(day, 719468), 146097);
        Value past = p_.apply(Op::subtract, of_era, whole(of_era, 1460));
        past = p_.apply(Op::add, past, whole(of_era, 36524));
        past = p_.apply(Op::subtract, past, whole(of_era, 146096));
        const Value year = whole(past, 365);  // of the era, from March
        Value before = p_.apply(Op::add, p_.times(year, 365), whole(year, 4));
        before = p_.apply(Op::subtract, before, whole(year, 100));
        const Value since_march = p_.apply(Op::subtract, of_era, before);
        Value leap = p_.apply(Op::subtract, divides(year, 4), divides(year, 100));
        leap = p_.apply(Op::add, leap, divides(year, 400));
        const Value in_new_year = p_.apply(Op::above, since_march, p_.constant(305.5));
        return p_.apply(Op::choose, in_new_year, p_.plus(since_march, -306),
                        p_.apply(Op::add, p_.plus(since_march, 59), leap));
    }

    /// Sine and cosine of a fraction of a round.
    void around(Value turn, std::vector<Value>& out) {
        const Value angle = p_.times(turn, 2 * std::numbers::pi);
        out.push_back(p_.apply(Op::sin, angle));
        out.push_back(p_.apply(Op::cos, angle));
    }

   private:
    Program& p_;
};

}  // namespace

void compile_date_parts(Program& program, Value days, bool has_time, std::vector<Value>& out) {
    DateCompiler date(program);
    const Value day = program.apply(Op::floor, days);
    date.around(program.times(date.day_of_year(day), 1 / days_a_year), out);
    date.around(program.times(date.rest(program.plus(day, 3), 7), 1.0 / 7), out);
    if (has_time) date.around(program.apply(Op::subtract, days, day), out);
}

}  // namespace mercer::exports
