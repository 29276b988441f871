// Several processes that hold one matrix together, each of them some of its columns. Who they are
// and how they speak is somebody else's business (dist/communicator.hpp).
#pragma once

#include <cstddef>
#include <span>

#include "mercer/base/export.hpp"

namespace mercer MERCER_API {

/// All of them make the same calls in the same order.
class Partners {
   public:
    virtual ~Partners() = default;

    virtual std::size_t number() const = 0;  ///< of this one, from 0
    virtual std::size_t count() const = 0;   ///< how many there are

    /// all = what each has to say, that of the first one first; partner p says sizes[p] bytes.
    virtual void gather(std::span<const std::byte> own, std::span<const std::size_t> sizes,
                        std::span<std::byte> all) const = 0;

   protected:
    Partners() = default;
    Partners(const Partners&) = default;
    Partners& operator=(const Partners&) = default;
};

}  // namespace mercer
