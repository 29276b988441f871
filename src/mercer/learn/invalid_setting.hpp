// A setting that no machine can have, whatever the data: C = -1. A search that meets one ends there
// and says so; of other mistakes it only says which point they spoilt.
#pragma once

#include "mercer/base/error.hpp"

namespace mercer {

class InvalidSetting : public InvalidInput {
   public:
    using InvalidInput::InvalidInput;
};

}  // namespace mercer
