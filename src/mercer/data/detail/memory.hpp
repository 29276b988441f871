// What is said when a source does not fit into memory.
#pragma once

#include <string>

namespace mercer {

[[noreturn]] void fail_memory(const std::string& name);

}  // namespace mercer
