// Threads that stand for processes, for tests.
#pragma once

#include <cstddef>
#include <functional>

#include "mercer/dist/communicator.hpp"

namespace mercer {

/// Calls body(ranks) on `count` threads, each of which is one rank and spread over all. What a body
/// throws ends the others, and is thrown here: that of the lowest rank that did not merely hear of
/// it.
void run_ranks(std::size_t count, const std::function<void(Communicator&)>& body);

}  // namespace mercer
