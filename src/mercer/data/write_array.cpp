// NPY, NPZ and idx.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include "mercer/base/detail/archive.hpp"
#include "mercer/base/error.hpp"
#include "mercer/data/write-inl.hpp"

namespace mercer::formats {
namespace {

/// The bytes of a number, least significant first or most significant first.
template <class T>
void append_bytes(std::string& text, T value, bool big_endian) {
    std::array<char, sizeof(T)> bytes{};
    std::memcpy(bytes.data(), &value, sizeof(T));
    if (big_endian != (std::endian::native == std::endian::big)) {
        std::reverse(bytes.begin(), bytes.end());
    }
    text.append(bytes.data(), bytes.size());
}

/// NumPy's header, version 1: padded so that the numbers begin at a multiple of 64 bytes.
std::string npy_header(const std::string& type, const std::vector<std::size_t>& shape) {
    std::string text = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (";
    for (const std::size_t extent : shape) text += std::to_string(extent) + ", ";
    if (shape.size() > 1) text.resize(text.size() - 2);
    text += "), }";
    constexpr std::size_t preamble = 10;
    text.resize((preamble + text.size() + 1 + 63) / 64 * 64 - preamble - 1, ' ');
    text += '\n';
    std::string header("\x93NUMPY\x01\x00", 8);
    append_bytes(header, static_cast<std::uint16_t>(text.size()), false);
    return header + text;
}

template <class T>
std::string type_name() {
    return std::string("<") + (std::is_floating_point_v<T> ? 'f' : 'i') + std::to_string(sizeof(T));
}

/// The rows as bytes, each number converted by put(text, value).
template <class Put>
void write_dense(const Rows& rows, const Progress& progress, Output& output, Put put) {
    write_rows(rows.size(), progress, output,
               [&](std::string& text, std::size_t first, std::size_t last) {
                   std::vector<double> row(rows.columns());
                   for (std::size_t i = first; i < last; ++i) {
                       rows.copy_row(i, row);
                       for (const double value : row) put(text, value);
                   }
               });
}

void write_numbers(const Rows& rows, const Progress& progress, bool big_endian, Output& output) {
    if (rows.is_double()) {
        write_dense(rows, progress, output, [=](std::string& text, double value) {
            append_bytes(text, value, big_endian);
        });
    } else {
        write_dense(rows, progress, output, [=](std::string& text, double value) {
            append_bytes(text, static_cast<float>(value), big_endian);
        });
    }
}

std::size_t item_bytes(const Rows& rows) {
    return rows.is_double() ? sizeof(double) : sizeof(float);
}

std::string rows_header(const Rows& rows) {
    return npy_header(rows.is_double() ? type_name<double>() : type_name<float>(),
                      {rows.size(), rows.columns()});
}

template <class T, class Range>
std::string npy_of(const Range& values, std::size_t count) {
    std::string text = npy_header(type_name<T>(), {count});
    for (std::size_t k = 0; k < count; ++k) append_bytes(text, static_cast<T>(values[k]), false);
    return text;
}

/// The code points of UTF-8; bytes that are none stand for themselves.
std::vector<std::uint32_t> code_points(const std::string& text) {
    std::vector<std::uint32_t> points;
    for (std::size_t k = 0; k < text.size();) {
        const auto lead = static_cast<unsigned char>(text[k]);
        const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
        std::uint32_t point = length == 1 ? lead : lead & (0xFFU >> (length + 1));
        bool good = k + length <= text.size();
        for (std::size_t c = 1; good && c < length; ++c) {
            const auto byte = static_cast<unsigned char>(text[k + c]);
            good = (byte & 0xC0) == 0x80;
            point = point << 6 | (byte & 63U);
        }
        points.push_back(good ? point : lead);
        k += good ? length : 1;
    }
    return points;
}

std::string npy_of_texts(const std::vector<std::string>& texts, bool scalar = false) {
    std::vector<std::vector<std::uint32_t>> all;
    std::size_t longest = 1;
    for (const std::string& text : texts) {
        all.push_back(code_points(text));
        longest = std::max(longest, all.back().size());
    }
    std::string result =
        npy_header("<U" + std::to_string(longest),
                   scalar ? std::vector<std::size_t>() : std::vector{texts.size()});
    for (auto& points : all) {
        points.resize(longest, 0);
        for (const std::uint32_t point : points) append_bytes(result, point, false);
    }
    return result;
}

bool are_whole(const std::vector<double>& values, double low, double high) {
    return std::all_of(values.begin(), values.end(), [&](double value) {
        return value >= low && value <= high && value == std::floor(value);
    });
}

/// A zip archive whose files are stored as they are, as numpy.savez does.
class ZipWriter {
   public:
    explicit ZipWriter(Output& output)
        : output_(output),
          zip_(MERCER_ARCHIVE(archive_write_new)(), MERCER_ARCHIVE(archive_write_free)) {
        if (!zip_) throw std::bad_alloc();
        check(MERCER_ARCHIVE(archive_write_set_format_zip)(zip_.get()));
        check(MERCER_ARCHIVE(archive_write_set_options)(zip_.get(), "zip:compression=store"));
        MERCER_ARCHIVE(archive_write_set_bytes_in_last_block)(zip_.get(), 1);
        check(MERCER_ARCHIVE(archive_write_open)(zip_.get(), this, nullptr, &ZipWriter::pass,
                                                 nullptr));
    }

    void add(const std::string& name, const std::string& content) {
        begin(name, content.size());
        write(content);
    }
    void begin(const std::string& name, std::size_t size) {
        const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(
            MERCER_ARCHIVE(archive_entry_new)(), MERCER_ARCHIVE(archive_entry_free));
        MERCER_ARCHIVE(archive_entry_set_pathname)(entry.get(), name.c_str());
        MERCER_ARCHIVE(archive_entry_set_filetype)(entry.get(), AE_IFREG);
        MERCER_ARCHIVE(archive_entry_set_perm)(entry.get(), 0644);
        MERCER_ARCHIVE(archive_entry_set_size)(entry.get(), static_cast<la_int64_t>(size));
        // Zip's calendar begins in 1980; one date for all keeps equal content equal.
        MERCER_ARCHIVE(archive_entry_set_mtime)(entry.get(), 315619200, 0);
        check(MERCER_ARCHIVE(archive_write_header)(zip_.get(), entry.get()));
    }
    void write(std::string_view bytes) {
        while (!bytes.empty()) {
            const la_ssize_t count =
                MERCER_ARCHIVE(archive_write_data)(zip_.get(), bytes.data(), bytes.size());
            if (count <= 0) check(ARCHIVE_FATAL);
            bytes.remove_prefix(static_cast<std::size_t>(count));
        }
    }
    void finish() { check(MERCER_ARCHIVE(archive_write_close)(zip_.get())); }

   private:
    static la_ssize_t pass(archive*, void* self, const void* bytes, std::size_t size) {
        auto& writer = *static_cast<ZipWriter*>(self);
        if (writer.error_) return static_cast<la_ssize_t>(size);
        try {
            writer.output_.write({static_cast<const char*>(bytes), size});
            return static_cast<la_ssize_t>(size);
        } catch (...) {
            writer.error_ = std::current_exception();
            return -1;
        }
    }
    void check(int status) {
        if (error_) std::rethrow_exception(error_);
        if (status == ARCHIVE_OK || status == ARCHIVE_WARN) return;
        const char* reason = MERCER_ARCHIVE(archive_error_string)(zip_.get());
        throw std::runtime_error(std::string("writing the zip archive failed: ") +
                                 (reason != nullptr ? reason : "unknown reason"));
    }

    Output& output_;
    std::exception_ptr error_{};
    std::unique_ptr<archive, int (*)(archive*)> zip_;
};

/// An entry of a zip archive as something to write to.
class EntryOutput : public Output {
   public:
    explicit EntryOutput(ZipWriter& zip) : zip_(zip) {}
    void write(std::string_view bytes) override { zip_.write(bytes); }

   private:
    ZipWriter& zip_;
};

/// As scipy.sparse.save_npz does.
template <class T>
void add_sparse(const Rows& rows, ZipWriter& zip) {
    const SparseView<T> view = rows.sparse_view<T>();
    zip.add("indices.npy", npy_of<std::int64_t>(view.index, view.nonzeros()));
    zip.add("indptr.npy", npy_of<std::int64_t>(view.starts, view.rows + 1));
    zip.add("format.npy", npy_of_texts({"csr"}, true));
    zip.add("shape.npy", npy_of<std::int64_t>(std::vector{view.rows, view.columns}, 2));
    zip.add("data.npy", npy_of<T>(view.value, view.nonzeros()));
}

void append_idx_header(std::string& text, char type, const std::vector<std::size_t>& shape) {
    text.append(2, '\0');
    text += type;
    text += static_cast<char>(shape.size());
    for (const std::size_t extent : shape) {
        if (extent > std::numeric_limits<std::uint32_t>::max()) {
            throw InvalidInput("idx files count to 4294967295, not to " + std::to_string(extent));
        }
        append_bytes(text, static_cast<std::uint32_t>(extent), true);
    }
}

}  // namespace

void write_npy(const Dataset& data, const WriteOptions& options, Output& output) {
    output.write(rows_header(data.x));
    write_numbers(data.x, options.progress, false, output);
}

void write_label_npy(const Labels& labels, Output& output) {
    if (labels.are_text()) {
        std::vector<std::string> texts;
        for (std::size_t i = 0; i < labels.size(); ++i) texts.push_back(labels.text(i));
        output.write(npy_of_texts(texts));
    } else {
        output.write(npy_of<double>(labels.values, labels.size()));
    }
}

void write_npz(const Dataset& data, const WriteOptions& options, Output& output) {
    ZipWriter zip(output);
    if (data.x.is_sparse()) {
        data.x.is_double() ? add_sparse<double>(data.x, zip) : add_sparse<float>(data.x, zip);
    } else {
        const std::string header = rows_header(data.x);
        zip.begin("X.npy", header.size() + data.size() * data.columns() * item_bytes(data.x));
        zip.write(header);
        EntryOutput entry(zip);
        write_numbers(data.x, options.progress, false, entry);
    }
    if (data.y.are_text()) {
        zip.add("y.npy", npy_of<std::int64_t>(data.y.values, data.size()));
        zip.add("target_names.npy", npy_of_texts(data.y.names));
    } else if (!data.y.empty()) {
        zip.add("y.npy", npy_of<double>(data.y.values, data.size()));
    }
    if (!data.weights.empty()) {
        zip.add("sample_weight.npy", npy_of<double>(data.weights, data.size()));
    }
    if (!data.feature_names.empty()) {
        zip.add("feature_names.npy", npy_of_texts(data.feature_names));
    }
    zip.finish();
}

void write_idx(const Dataset& data, const WriteOptions& options, bool images, Output& output) {
    bool bytes = true;
    std::vector<double> row(data.columns());
    for (std::size_t i = 0; i < data.size() && bytes; ++i) {
        data.x.copy_row(i, row);
        bytes = are_whole(row, 0, 255);
    }
    std::vector<std::size_t> shape{data.size(), data.columns()};
    const auto side =
        static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(data.columns()))));
    if (images && side * side == data.columns()) shape = {data.size(), side, side};
    std::string header;
    append_idx_header(header, bytes ? '\x08' : data.x.is_double() ? '\x0E' : '\x0D', shape);
    output.write(header);
    if (!bytes) return write_numbers(data.x, options.progress, true, output);
    write_dense(data.x, options.progress, output, [](std::string& text, double value) {
        text += static_cast<char>(static_cast<unsigned char>(value));
    });
}

void write_label_idx(const Labels& labels, Output& output) {
    std::string text;
    if (are_whole(labels.values, 0, 255)) {
        append_idx_header(text, '\x08', {labels.size()});
        for (const double value : labels.values) {
            text += static_cast<char>(static_cast<unsigned char>(value));
        }
    } else {
        append_idx_header(text, '\x0E', {labels.size()});
        for (const double value : labels.values) append_bytes(text, value, true);
    }
    output.write(text);
}

}  // namespace mercer::formats
