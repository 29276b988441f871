/* What the plugin that reads Parquet and the library that opens it agree on. Plain C: the plugin may come
   from another compiler, and knows nothing else of the library. */
#ifndef MERCER_DATA_PARQUET_PLUGIN_H
#define MERCER_DATA_PARQUET_PLUGIN_H

#include <stddef.h>

enum { mercer_parquet_version = 1 };

struct ArrowArrayStream;

/* Opens a file as a stream of record batches (Arrow's C stream interface), which takes little memory
   whatever the file holds. Returns 0, or writes into `why` what is wrong. */
typedef int (*MercerParquetOpen)(int version, const char* path, struct ArrowArrayStream* stream,
                                 char* why, size_t room);

#endif
