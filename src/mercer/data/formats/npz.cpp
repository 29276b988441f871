// NumPy's .npz: a zip archive of .npy arrays. Features, labels and weights go by their usual names;
// scipy's save_npz puts a sparse matrix into data, indices, indptr and shape.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>

#include "mercer/base/text.hpp"
#include "mercer/data/detail/memory.hpp"
#include "mercer/data/formats/detail/npy.hpp"
#include "mercer/data/formats/detail/zip.hpp"
#include "mercer/data/source.hpp"

namespace mercer::formats {
namespace {

constexpr const char* feature_keys[] = {"X",      "x",       "data",    "features",
                                        "images", "X_train", "x_train", "arr_0"};
constexpr const char* label_keys[] = {"y",     "Y",      "target",  "targets",
                                      "label", "labels", "y_train", "arr_1"};
constexpr const char* weight_keys[] = {"sample_weight", "sample_weights", "weights", "weight"};

/// The arrays of an archive that mean something here, unpacked.
class Arrays {
   public:
    explicit Arrays(const Input& input) : input_(input) { unpack_all(); }

    bool has(const std::string& key) const { return contents_.contains(key); }
    Array get(const std::string& key) const {
        return parse_npy(input_, contents_.at(key).bytes, key + ".npy");
    }
    template <std::size_t N>
    std::optional<std::string> first_of(const char* const (&keys)[N]) const {
        for (const char* key : keys) {
            if (has(key)) return key;
        }
        return std::nullopt;
    }
    /// All names in the archive, for messages.
    const std::string& listing() const { return listing_; }

   private:
    static bool is_known(const std::string& key) {
        const auto among = [&](const auto& keys) {
            return std::any_of(std::begin(keys), std::end(keys),
                               [&](const char* known) { return key == known; });
        };
        static constexpr const char* others[] = {"indices", "indptr",        "shape",
                                                 "format",  "feature_names", "target_names"};
        return among(feature_keys) || among(label_keys) || among(weight_keys) || among(others);
    }

    void unpack_all() try {
        const auto go_on = [this] {
            if (!keep_going(input_.options.progress, {.task = "reading", .fraction = -1})) {
                throw Cancelled();
            }
        };
        double unpacked = 0;
        for (const ZipEntry& entry : zip_directory(input_.bytes)) {
            std::string key = entry.name;
            if (listing_.size() < 200) listing_ += (listing_.empty() ? "" : ", ") + key;
            if (!key.ends_with(".npy")) continue;
            key.resize(key.size() - 4);
            if (is_known(key) && !has(key)) {
                unpacked += static_cast<double>(entry.size);
                check_allowance(input_.name, unpacked, input_.bytes.size(), "what is packed in it");
                contents_.emplace(key, unzip(input_.bytes, entry, go_on));
            }
        }
    } catch (const Cancelled&) {
        throw;
    } catch (const InvalidInput&) {
        throw;
    } catch (const std::runtime_error& error) {
        fail(input_, std::string("found a damaged zip archive (") + error.what() +
                         "), expected NumPy arrays; fetch or save the file again");
    }

    const Input& input_;
    std::map<std::string, Unzipped> contents_;
    std::string listing_;
};

/// Whole numbers that count or point.
std::vector<std::size_t> positions(const Input& input, const Array& array) {
    std::vector<std::size_t> result;
    result.reserve(array.size());
    for (const double value : array_numbers(input, array)) {
        if (!(value >= 0) || value >= 0x1p53 || value != std::floor(value)) {
            fail(input, array.name + ": found " + format_number(value) +
                            ", expected a whole number from 0");
        }
        result.push_back(static_cast<std::size_t>(value));
    }
    return result;
}

template <class T>
Rows sparse_rows(const Input& input, const Arrays& arrays, bool& rounded) {
    const std::vector<std::size_t> shape = positions(input, arrays.get("shape"));
    std::vector<std::size_t> starts = positions(input, arrays.get("indptr"));
    if (shape.size() != 2 || starts.size() != shape[0] + 1) {
        fail(input, "found " + std::to_string(starts.size()) +
                        " row starts (indptr), expected one more than the rows of shape");
    }
    std::vector<std::uint32_t> index;
    for (const std::size_t column : positions(input, arrays.get("indices"))) {
        if (column > std::numeric_limits<std::uint32_t>::max()) {
            fail(input, "indices.npy: found column " + std::to_string(column) +
                            ", expected at most 4294967295");
        }
        index.push_back(static_cast<std::uint32_t>(column));
    }
    std::vector<T> values = array_rows<T>(input, arrays.get("data"), rounded);
    try {
        return Rows::sparse(std::move(starts), std::move(index), std::move(values), shape[1]);
    } catch (const InvalidInput& error) {
        fail(input, std::string(error.what()) + "; call sum_duplicates() before save_npz");
    }
}

Dataset read_sparse(const Input& input, const Arrays& arrays) {
    const std::string& label = input.options.label;
    if (!label.empty() && label != "none" && !input.options.shared) {
        fail(input,
             "`label` has no meaning for a sparse matrix: its labels are an array y beside it");
    }
    if (arrays.has("format")) {
        const std::vector<std::string> format = array_texts(input, arrays.get("format"));
        if (format.size() != 1 || format[0] != "csr") {
            fail(input, "found a sparse matrix in the form " +
                            quoted(format.empty() ? "" : format[0]) +
                            ", expected csr; call tocsr() before save_npz");
        }
    }
    Dataset data = *in_fitting_precision(input, [&](auto number, bool& rounded) {
        Dataset read;
        read.x = sparse_rows<decltype(number)>(input, arrays, rounded);
        return std::optional(std::move(read));
    });
    data.x = fitted(input, std::move(data.x));
    return data;
}

/// Numbers 0, 1, … with the names that belong to them.
void name_labels(const Input& input, const Arrays& arrays, Labels& labels) {
    if (!arrays.has("target_names") || labels.are_text()) return;
    const Array array = arrays.get("target_names");
    if (!array.is_text()) return;
    std::vector<std::string> names = array_texts(input, array);
    const auto count = static_cast<double>(names.size());
    const bool fit = std::all_of(labels.values.begin(), labels.values.end(), [&](double value) {
        return value >= 0 && value < count && value == std::floor(value);
    });
    if (fit) labels.names = std::move(names);
}

Dataset read_npz(const Input& input) {
    const Arrays arrays(input);
    const bool sparse =
        arrays.has("data") && arrays.has("indices") && arrays.has("indptr") && arrays.has("shape");
    const auto features = arrays.first_of(feature_keys);
    if (!features) {
        fail(input, "found no array of features in the archive (it holds: " + arrays.listing() +
                        "), expected one named X or data");
    }
    Dataset data =
        sparse ? read_sparse(input, arrays) : array_dataset(input, arrays.get(*features));
    const auto labels = arrays.first_of(label_keys);
    if (labels && data.y.empty() && input.options.label != "none") {
        data.y = array_labels(input, arrays.get(*labels));
        name_labels(input, arrays, data.y);
    }
    if (const auto weights = arrays.first_of(weight_keys)) {
        data.weights = array_numbers(input, arrays.get(*weights));
    }
    if (arrays.has("feature_names") && arrays.get("feature_names").is_text()) {
        data.feature_names = array_texts(input, arrays.get("feature_names"));
        if (data.feature_names.size() != data.columns()) data.feature_names.clear();
    }
    return data;
}

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

std::size_t item_bytes(const Rows& rows) {
    return rows.is_double() ? sizeof(double) : sizeof(float);
}

void write_npz(const Dataset& data, const std::string&, const WriteOptions& options,
               Output& output) {
    ZipWriter zip(output);
    if (data.x.is_sparse()) {
        data.x.is_double() ? add_sparse<double>(data.x, zip) : add_sparse<float>(data.x, zip);
    } else {
        const std::string header = npy_header(data.x);
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

Match recognise_npz(const Input& input) {
    const bool so = input.bytes.starts_with("PK\3\4") || input.bytes.starts_with("PK\5\6");
    return {.certainty = so ? Certainty::certain : Certainty::none};
}

}  // namespace

Format npz() {
    return {
        .name = "npz",
        .title = "NPZ",
        .about = "NumPy arrays X and y, or scipy's sparse matrix, in a zip archive",
        .suffixes = {".npz"},
        .kind = Format::Kind::bytes,
        .recognise = recognise_npz,
        .read = read_npz,
        .uses = {.label = true, .text_labels = true, .missing = true},
        .write = write_npz,
    };
}

}  // namespace mercer::formats
