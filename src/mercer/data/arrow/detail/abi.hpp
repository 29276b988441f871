// The three structures of Arrow's C data interface (arrow.apache.org/docs/format/CDataInterface,
// CStreamInterface): how libraries in one process hand over tables without knowing one another. The
// macros are the ones that the interface names, so that this header may stand beside Arrow's own.
#pragma once

#include <cstdint>

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

struct ArrowSchema {
    const char* format;    ///< the type, in letters
    const char* name;      ///< of the column; may be null
    const char* metadata;  ///< not looked at here
    std::int64_t flags;
    std::int64_t n_children;
    ArrowSchema** children;
    ArrowSchema* dictionary;
    void (*release)(ArrowSchema*);  ///< null: released
    void* private_data;
};

struct ArrowArray {
    std::int64_t length;
    std::int64_t null_count;  ///< −1: not counted
    std::int64_t offset;
    std::int64_t n_buffers;
    std::int64_t n_children;
    const void** buffers;
    ArrowArray** children;
    ArrowArray* dictionary;
    void (*release)(ArrowArray*);  ///< null: released, or the end of a stream
    void* private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
    int (*get_next)(ArrowArrayStream*, ArrowArray* out);
    const char* (*get_last_error)(ArrowArrayStream*);
    void (*release)(ArrowArrayStream*);
    void* private_data;
};

#endif
