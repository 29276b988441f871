// A process by itself.
#pragma once

#include <memory>

#include "mercer/dist/communicator.hpp"

namespace mercer {

std::unique_ptr<Communicator> one_rank();

}  // namespace mercer
