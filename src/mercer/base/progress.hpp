// How long work speaks to whoever waits for it, and how it is told to stop. The library never
// prints; a command line or a notebook gives a callback and draws what it likes.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "mercer/base/export.hpp"

namespace mercer MERCER_API {

/// A number that belongs to a moment: "violation", 1e-3.
struct Figure {
    std::string_view name;
    double value = 0;
};

/// One moment of long work.
struct Moment {
    std::string_view task;      ///< "reading", "gram matrix", …
    double fraction = 0;        ///< done so far in [0, 1]; negative when the end is not known
    std::string_view detail{};  ///< a short line for people, may be empty
    /// What is known at the moment, by name; valid during the call.
    std::span<const Figure> figures{};

    /// The figure of that name, or `otherwise`.
    double figure(std::string_view name, double otherwise = 0) const {
        for (const Figure& f : figures) {
            if (f.name == name) return f.value;
        }
        return otherwise;
    }
};

/// Called now and then, always from the thread that started the work. Return false to stop it.
/// An empty function means nobody is listening.
using Progress = std::function<bool(const Moment&)>;

/// Reports a moment; false when the listener wants the work to end.
inline bool keep_going(const Progress& progress, const Moment& moment) {
    return !progress || progress(moment);
}

}  // namespace mercer
