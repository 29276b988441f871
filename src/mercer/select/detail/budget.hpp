// The time there is for everything, asked by long work whether to go on.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/progress.hpp"

namespace mercer {

class Budget {
   public:
    Budget(double seconds, Progress progress) : seconds_(seconds), progress_(std::move(progress)) {}

    double seconds() const { return seconds_; }
    double used() const { return watch_.seconds(); }
    double left() const { return std::max(0.0, seconds_ - used()); }
    /// The caller has said no: that is more than the end of the time.
    bool stopped() const { return stopped_; }

    /// A listener that says no after this many seconds more.
    Progress until(double seconds, std::string what) {
        return [this, what = std::move(what), limit = used() + seconds](const Moment& moment) {
            if (progress_ && !progress_({.task = "learning",
                                         .fraction = -1,
                                         .detail = what + (moment.detail.empty() ? "" : ": ") +
                                                   std::string(moment.detail)})) {
                stopped_ = true;
            }
            return !stopped_ && used() < limit;
        };
    }
    /// Throws Cancelled where the caller has said no.
    void check() const {
        if (stopped_) throw Cancelled();
    }

   private:
    double seconds_;
    Progress progress_;
    Stopwatch watch_{};
    bool stopped_ = false;
};

}  // namespace mercer
