// The library speaks of its settings; on the command line they are flags.
#pragma once

#include <string>

namespace mercer::cli {

/// A message of the library in the words of the command line: "set missing to mean" becomes
/// "give --missing mean".
std::string in_flags(std::string message);

}  // namespace mercer::cli
