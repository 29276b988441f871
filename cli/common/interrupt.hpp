// Ctrl-C as a wish to stop early, for work that has something to hand back when it is stopped.
#pragma once

namespace mercer::cli {

/// While one of these lives the first Ctrl-C is remembered, to be asked for, and the second ends
/// the program as it does otherwise. There is one at a time.
class StopOnInterrupt {
   public:
    StopOnInterrupt();
    StopOnInterrupt(const StopOnInterrupt&) = delete;
    StopOnInterrupt& operator=(const StopOnInterrupt&) = delete;
    ~StopOnInterrupt();

    bool requested() const;
};

}  // namespace mercer::cli
