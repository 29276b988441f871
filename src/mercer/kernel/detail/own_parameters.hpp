// The parameters of one node alone, for the files that walk trees together with them.
#pragma once

#include <string>
#include <vector>

#include "mercer/kernel/detail/node.hpp"

namespace mercer {

struct OwnParameter {
    std::string name;       ///< the form it was given by: "sigma"
    std::string canonical;  ///< "gamma"
    double value = 0;
    double slope = 1;  ///< d canonical / d value
};

/// Those of the node itself, without its children.
std::vector<OwnParameter> own_parameters(const KernelNode& node);

}  // namespace mercer
