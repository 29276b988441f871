#include "mercer/base/detail/library.hpp"

#include <dlfcn.h>

#include <stdexcept>

namespace mercer {

Library::Library(std::initializer_list<const char*> names, const char* needed_for)
    : name_(*names.begin()), handle_(nullptr) {
    std::string reasons;
    for (const char* name : names) {
        handle_ = dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
        if (handle_ != nullptr) {
            name_ = name;
            return;
        }
        const char* said = dlerror();
        const std::string reason = said ? said : "unknown reason";
        if (reasons.find(reason) != std::string::npos) continue;  // the same name again
        reasons += (reasons.empty() ? "" : "; ") + reason;
    }
    throw std::runtime_error("the library " + name_ + " is needed for " + needed_for +
                             " (it cannot be opened: " + reasons + ")");
}

void* Library::find(const char* symbol) const {
    void* const plain = dlsym(handle_, symbol);
    return plain != nullptr ? plain : dlsym(handle_, (std::string("scipy_") + symbol).c_str());
}

void* Library::address(const char* symbol) const {
    void* const found = find(symbol);
    if (found == nullptr) {
        throw std::runtime_error("the library " + name_ + " has no function " + symbol);
    }
    return found;
}

}  // namespace mercer
