// Ctrl-C, and the signals by which batch systems and closed terminals end a program (SIGTERM,
// SIGHUP), which mean the same here. Unless one of the two classes below lives, the program ends at
// once with 130.
#pragma once

#include <string>
#include <vector>

namespace mercer::cli {

/// To be called once, first of all. SIGHUP stays ignored for those who started us so (nohup).
void install_interrupt_handler();

/// What is said on standard error, once, when whoever started this process tells it to end
/// (SIGTERM), as mpirun does when a rank is lost or Ctrl-C was pressed: `text` where `file` is
/// there, `otherwise` where it is not. Empty: nothing.
void set_last_words(const std::string& text, const std::string& file = "",
                    const std::string& otherwise = "");
/// Where last words go, and processes that have them too: they are said by the first that is left.
void share_last_words(int descriptor, const std::vector<int>& before);

/// While one of these lives the first signal is a wish to stop early, to be asked for by work that
/// has something to hand back then; the second ends the program. There is one at a time.
class StopOnInterrupt {
   public:
    StopOnInterrupt();
    StopOnInterrupt(const StopOnInterrupt&) = delete;
    StopOnInterrupt& operator=(const StopOnInterrupt&) = delete;
    ~StopOnInterrupt();

    bool requested() const;
};

/// Keeps a signal waiting, whichever thread it comes to, while a file is being written, so that
/// what was asked for is there in the end; a second one does not wait. Does nothing for standard
/// output ("-").
class InterruptLater {
   public:
    explicit InterruptLater(const std::string& path);
    InterruptLater(const InterruptLater&) = delete;
    InterruptLater& operator=(const InterruptLater&) = delete;
    ~InterruptLater();

   private:
    bool waiting_;
};

}  // namespace mercer::cli
