#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/data/detail/array_part.hpp"
#include "mercer/data/formats/detail/npy.hpp"

namespace mercer {
namespace {

using formats::Array;
using formats::Element;

/// Where files are in the address space, by their first byte.
struct Mappings {
    std::mutex lock;
    std::map<std::uintptr_t, std::size_t> sizes;
};

Mappings& mappings() {
    static Mappings all;
    return all;
}

/// The bytes of a file from `begin` on, which the system fetches when they are looked at.
class Mapping {
   public:
    Mapping(const std::string& path, std::size_t begin, std::size_t size) {
        const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        const std::size_t before = begin % page;
        const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (file < 0) throw InvalidInput(Location{.file = path}, "cannot be opened any more");
        size_ = before + size;
        first_ =
            mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, static_cast<off_t>(begin - before));
        close(file);
        if (first_ == MAP_FAILED) {
            throw InvalidInput(Location{.file = path}, "cannot be mapped into memory");
        }
        data_ = static_cast<const char*>(first_) + before;
        const std::scoped_lock hold(mappings().lock);
        mappings().sizes[reinterpret_cast<std::uintptr_t>(first_)] = size_;
    }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping() {
        {
            const std::scoped_lock hold(mappings().lock);
            mappings().sizes.erase(reinterpret_cast<std::uintptr_t>(first_));
        }
        munmap(first_, size_);
    }
    const char* data() const { return data_; }

   private:
    void* first_ = nullptr;
    std::size_t size_ = 0;
    const char* data_ = nullptr;
};

bool lies_in_file(const void* data) {
    const auto place = reinterpret_cast<std::uintptr_t>(data);
    const std::scoped_lock hold(mappings().lock);
    auto found = mappings().sizes.upper_bound(place);
    if (found == mappings().sizes.begin()) return false;
    --found;
    return place < found->first + found->second;
}

template <class T>
void release_as(const Rows& rows, std::size_t first, std::size_t count) {
    const MatrixView<const T> view = rows.dense_view<T>();
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(view.data + first * view.columns);
    const std::uintptr_t end = begin + count * view.columns * sizeof(T);
    // Pages at the ends are shared with rows beside these, and are few.
    const std::uintptr_t from = (begin + page - 1) / page * page;
    if (end / page * page <= from) return;
    madvise(reinterpret_cast<void*>(from), end / page * page - from, MADV_DONTNEED);
}

/// True when a float holds any such number, so that no look at the others is needed to settle how
/// many bytes numbers take.
bool fits_float(Element element) {
    switch (element) {
        case Element::boolean:
        case Element::u8:
        case Element::i8:
        case Element::u16:
        case Element::i16:
        case Element::f16:
        case Element::f32: return true;
        default: return false;
    }
}

bool asks_for_all(const ReadOptions& options) {
    return (!options.label.empty() && options.label != "none") ||
           options.missing != MissingValues::refuse || options.double_precision ||
           options.form == RowForm::sparse || options.columns > 0;
}

}  // namespace

bool is_mapped(const Rows& rows) {
    if (rows.is_sparse() || rows.size() == 0 || rows.columns() == 0) return false;
    return lies_in_file(rows.is_double() ? static_cast<const void*>(rows.dense_view<double>().data)
                                         : static_cast<const void*>(rows.dense_view<float>().data));
}

void release_rows(const Rows& rows, std::size_t first, std::size_t count) {
    if (count == 0 || !is_mapped(rows)) return;
    rows.is_double() ? release_as<double>(rows, first, count)
                     : release_as<float>(rows, first, count);
}

std::optional<Dataset> read_array_part(const formats::Input& input, const PlainFile& file) {
    const ReadOptions& options = input.options;
    if ((!options.part && options.most_bytes == 0) || asks_for_all(options)) return {};
    std::size_t begin = 0;
    Array array = formats::npy_outline(input, file.size(), begin);
    const std::size_t columns = array.columns();
    if (array.fortran || array.size() == 0 || !fits_float(array.element)) return {};
    // With another number of columns one of them may be the label.
    if (options.known && options.known->features != columns) return {};
    const RowRange range = options.part ? options.part(array.rows()) : RowRange{0, array.rows()};
    Dataset found;
    const std::size_t bytes = range.size() * columns * array.item;
    begin += range.first * columns * array.item;
    const bool native = array.big_endian == (std::endian::native == std::endian::big);
    if (options.most_bytes > 0 && bytes > options.most_bytes && native &&
        array.element == Element::f32 && begin % sizeof(float) == 0) {
        const auto mapping = std::make_shared<const Mapping>(input.path, begin, bytes);
        found.x =
            Rows::borrow(MatrixView<const float>(reinterpret_cast<const float*>(mapping->data()),
                                                 range.size(), columns),
                         mapping);
        return found;
    }
    if (!options.part) return {};
    if (range.first > 0) {
        array.name = "array from row " + std::to_string(range.first + 1) + " on";
    }
    std::vector<char> content(bytes);
    file.fetch(begin, content.data(), bytes);
    array.bytes = {content.data(), bytes};
    array.shape[0] = range.size();
    bool rounded = false;
    formats::Input part = input;  // what may be allocated goes by the bytes that were read
    part.bytes = array.bytes;
    found.x = Rows::dense(formats::array_rows<float>(part, array, rounded), columns);
    return found;
}

}  // namespace mercer
