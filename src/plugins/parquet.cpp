// Parquet by Arrow, in a library of its own (libmercer_parquet.so) that is opened for such a file:
// nobody needs Arrow who has none.
#include <arrow/c/bridge.h>
#include <arrow/io/file.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <parquet/arrow/reader.h>
#include <parquet/properties.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "mercer/data/detail/parquet_plugin.h"

namespace {

constexpr std::int64_t batch_rows = std::int64_t{1} << 15;
constexpr std::int64_t buffer_bytes = std::int64_t{1} << 20;

arrow::Status open(const char* path, ArrowArrayStream* stream) {
    ARROW_ASSIGN_OR_RAISE(const auto file, arrow::io::ReadableFile::Open(path));
    // A column of a row group may be larger than memory: pages are read as they are wanted.
    parquet::ReaderProperties reading;
    reading.enable_buffered_stream();
    reading.set_buffer_size(buffer_bytes);
    parquet::ArrowReaderProperties batches;
    batches.set_batch_size(batch_rows);
    batches.set_pre_buffer(false);
    batches.set_use_threads(false);
    parquet::arrow::FileReaderBuilder builder;
    ARROW_RETURN_NOT_OK(builder.Open(file, reading));
    builder.properties(batches);
    ARROW_ASSIGN_OR_RAISE(auto built, builder.Build());
    const std::shared_ptr<parquet::arrow::FileReader> reader = std::move(built);
    ARROW_ASSIGN_OR_RAISE(auto found, reader->GetRecordBatchReader());
    // What reads batches must not outlive what reads the file.
    struct Both {
        std::shared_ptr<parquet::arrow::FileReader> file;
        std::shared_ptr<arrow::RecordBatchReader> batches;
    };
    const auto both = std::make_shared<Both>(
        Both{reader, std::shared_ptr<arrow::RecordBatchReader>(std::move(found))});
    return arrow::ExportRecordBatchReader(
        std::shared_ptr<arrow::RecordBatchReader>(both, both->batches.get()), stream);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int mercer_parquet_open(int version,
                                                                          const char* path,
                                                                          ArrowArrayStream* stream,
                                                                          char* why, size_t room) {
    if (version != mercer_parquet_version) {
        std::snprintf(why, room, "the plugin is of another version than the library");
        return 1;
    }
    try {
        const arrow::Status status = open(path, stream);
        if (status.ok()) return 0;
        std::snprintf(why, room, "%s", status.message().c_str());
    } catch (const std::exception& error) {
        std::snprintf(why, room, "%s", error.what());
    }
    return 1;
}
