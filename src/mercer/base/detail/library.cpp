#include "mercer/base/detail/library.hpp"

#include <dlfcn.h>

#include <stdexcept>

namespace mercer {

Library::Library(const char* name)
    : name_(name), handle_(dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE)) {
    if (handle_ != nullptr) return;
    const char* reason = dlerror();
    throw std::runtime_error("the library " + name_ + " is needed and cannot be opened: " +
                             (reason == nullptr ? "unknown reason" : reason));
}

void* Library::find(const char* symbol) const {
    return dlsym(handle_, symbol);
}

void* Library::address(const char* symbol) const {
    void* const found = find(symbol);
    if (found == nullptr) {
        throw std::runtime_error("the library " + name_ + " has no function " + symbol);
    }
    return found;
}

}  // namespace mercer
