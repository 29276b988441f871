/* What the plugin that speaks MPI and the library that opens it agree on. Plain C: the plugin may come
   from another compiler, and knows nothing else of the library. */
#ifndef MERCER_DIST_MPI_PLUGIN_H
#define MERCER_DIST_MPI_PLUGIN_H

#include <stddef.h>

enum { mercer_mpi_version = 1 };

/* Functions return 0, or what MPI returned; `message` makes a text of that. Counts are in bytes, one
   for each rank, and each below 2^31, as are their sums. */
struct MercerMpi {
    int version;
    size_t rank;
    size_t size;
    int (*gather)(const void* own, void* all, const size_t* bytes);
    int (*exchange)(const void* sent, const size_t* sent_bytes, void* received,
                    const size_t* received_bytes);
    void (*message)(int error, char* text, size_t length);
    void (*finish)(void);
};

/* Begins MPI and fills in the structure. */
typedef int (*MercerMpiBegin)(struct MercerMpi* mpi);

#endif
