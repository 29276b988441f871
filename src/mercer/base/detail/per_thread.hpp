// A value of each thread's own. For .cpp files.
#pragma once

#include <pthread.h>

#include <memory>
#include <new>

namespace mercer {

/// Made when a thread first asks for it, and gone with the thread; one of each type. thread_local
/// does the same, but glibc ends the process where there is no memory to note its destructor: this
/// throws std::bad_alloc.
template <class T>
T& per_thread() {
    struct Key {
        pthread_key_t key{};
        bool made = pthread_key_create(&key, [](void* own) { delete static_cast<T*>(own); }) == 0;
    };
    static const Key key;
    static thread_local T* own = nullptr;
    if (own == nullptr) {
        auto made = std::make_unique<T>();
        if (!key.made || pthread_setspecific(key.key, made.get()) != 0) throw std::bad_alloc();
        own = made.release();
    }
    return *own;
}

}  // namespace mercer
