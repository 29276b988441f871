// Tables as other libraries hand them over, made by hand: sound ones, and ones that lie.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mercer/data/arrow/detail/abi.hpp"

namespace mercer::testing {

/// One column of a batch. Buffers are bytes; an absent one is null.
struct FakeColumn {
    std::string format;
    std::string name{};
    std::int64_t length = 0;
    std::int64_t null_count = 0;
    std::int64_t offset = 0;
    std::vector<std::unique_ptr<std::string>> buffers{};
    std::shared_ptr<FakeColumn> dictionary{};

    template <class T>
    static FakeColumn of(std::string format, std::string name, const std::vector<T>& values) {
        FakeColumn column{.format = std::move(format), .name = std::move(name)};
        column.length = static_cast<std::int64_t>(values.size());
        column.buffers.push_back(nullptr);
        column.buffers.push_back(bytes_of(values));
        return column;
    }
    static FakeColumn bits(std::string name, const std::vector<bool>& values) {
        FakeColumn column{.format = "b", .name = std::move(name)};
        column.length = static_cast<std::int64_t>(values.size());
        column.buffers.push_back(nullptr);
        column.buffers.push_back(packed(values));
        return column;
    }
    template <class Offset>
    static FakeColumn texts(std::string format, std::string name,
                            const std::vector<std::string>& values) {
        std::vector<Offset> offsets{0};
        auto all = std::make_unique<std::string>();
        for (const std::string& value : values) {
            *all += value;
            offsets.push_back(static_cast<Offset>(all->size()));
        }
        FakeColumn column{.format = std::move(format), .name = std::move(name)};
        column.length = static_cast<std::int64_t>(values.size());
        column.buffers.push_back(nullptr);
        column.buffers.push_back(bytes_of(offsets));
        column.buffers.push_back(std::move(all));
        return column;
    }
    static FakeColumn views(std::string name, const std::vector<std::string>& values);

    FakeColumn&& without(const std::vector<bool>& there) && {
        buffers[0] = packed(there);
        null_count = 0;
        for (const bool one : there) null_count += one ? 0 : 1;
        return std::move(*this);
    }
    FakeColumn&& of_dictionary(FakeColumn values) && {
        dictionary = std::make_shared<FakeColumn>(std::move(values));
        return std::move(*this);
    }

    template <class T>
    static std::unique_ptr<std::string> bytes_of(const std::vector<T>& values) {
        return std::make_unique<std::string>(reinterpret_cast<const char*>(values.data()),
                                             values.size() * sizeof(T));
    }
    static std::unique_ptr<std::string> packed(const std::vector<bool>& values) {
        auto bytes = std::make_unique<std::string>(values.size() / 8 + 1, '\0');
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (values[i]) (*bytes)[i / 8] = static_cast<char>((*bytes)[i / 8] | 1 << (i % 8));
        }
        return bytes;
    }
};

inline FakeColumn FakeColumn::views(std::string name, const std::vector<std::string>& values) {
    auto entries = std::make_unique<std::string>();
    auto all = std::make_unique<std::string>();
    for (const std::string& value : values) {
        std::string entry(16, '\0');
        const auto length = static_cast<std::int32_t>(value.size());
        const auto place = static_cast<std::int32_t>(all->size());
        std::memcpy(entry.data(), &length, 4);
        if (value.size() <= 12) {
            std::memcpy(entry.data() + 4, value.data(), value.size());
        } else {
            std::memcpy(entry.data() + 4, value.data(), 4);
            std::memcpy(entry.data() + 12, &place, 4);
            *all += value;
        }
        *entries += entry;
    }
    FakeColumn column{.format = "vu", .name = std::move(name)};
    column.length = static_cast<std::int64_t>(values.size());
    const std::vector<std::int64_t> sizes{static_cast<std::int64_t>(all->size())};
    column.buffers.push_back(nullptr);
    column.buffers.push_back(std::move(entries));
    column.buffers.push_back(std::move(all));
    column.buffers.push_back(bytes_of(sizes));
    return column;
}

using FakeBatch = std::vector<FakeColumn>;

/// A stream of batches; `live` counts the structures that have not been released. What was made can
/// be spoilt before it is handed over.
class FakeStream {
   public:
    explicit FakeStream(std::vector<FakeBatch> batches) : batches_(std::move(batches)) {}

    std::function<void(ArrowSchema&)> spoil_schema{};
    std::function<void(ArrowArray&)> spoil_batch{};
    int error_at = -1;  ///< the batch at which the stream fails
    int live = 0;

    ArrowArrayStream stream() {
        ++live;
        return {.get_schema = &FakeStream::give_schema,
                .get_next = &FakeStream::give_next,
                .get_last_error = [](ArrowArrayStream*) { return "the disk has gone away"; },
                .release =
                    [](ArrowArrayStream* own) {
                        --self(own).live;
                        own->release = nullptr;
                    },
                .private_data = this};
    }

   private:
    /// What a schema or an array stands on.
    struct Held {
        FakeStream* owner;
        std::vector<std::string> texts{};
        std::vector<ArrowSchema> schemas{};
        std::vector<ArrowSchema*> schema_places{};
        std::vector<ArrowArray> arrays{};
        std::vector<ArrowArray*> array_places{};
        std::vector<std::vector<const void*>> buffers{};
    };
    static FakeStream& self(ArrowArrayStream* own) {
        return *static_cast<FakeStream*>(own->private_data);
    }
    template <class T>
    static void drop(T* own) {
        auto* held = static_cast<Held*>(own->private_data);
        --held->owner->live;
        own->release = nullptr;
        delete held;
    }
    template <class T>
    static void stay(T*) {}

    static void describe(const FakeColumn& column, ArrowSchema& schema) {
        schema = {.format = column.format.c_str(),
                  .name = column.name.c_str(),
                  .metadata = nullptr,
                  .flags = 2,
                  .n_children = 0,
                  .children = nullptr,
                  .dictionary = nullptr,
                  .release = &FakeStream::stay<ArrowSchema>,
                  .private_data = nullptr};
    }

    static int give_schema(ArrowArrayStream* own, ArrowSchema* out) {
        FakeStream& s = self(own);
        const FakeBatch& batch = s.batches_.front();
        auto* held = new Held{.owner = &s};
        held->schemas.resize(2 * batch.size());
        for (std::size_t k = 0; k < batch.size(); ++k) {
            describe(batch[k], held->schemas[k]);
            held->schema_places.push_back(&held->schemas[k]);
            if (!batch[k].dictionary) continue;
            describe(*batch[k].dictionary, held->schemas[batch.size() + k]);
            held->schemas[k].dictionary = &held->schemas[batch.size() + k];
        }
        *out = {.format = "+s",
                .name = "",
                .metadata = nullptr,
                .flags = 0,
                .n_children = static_cast<std::int64_t>(batch.size()),
                .children = held->schema_places.data(),
                .dictionary = nullptr,
                .release = &FakeStream::drop<ArrowSchema>,
                .private_data = held};
        ++s.live;
        if (s.spoil_schema) s.spoil_schema(*out);
        return 0;
    }

    static void lay_out(const FakeColumn& column, std::vector<const void*>& buffers,
                        ArrowArray& array) {
        for (const auto& buffer : column.buffers) {
            buffers.push_back(buffer ? buffer->data() : nullptr);
        }
        array = {.length = column.length,
                 .null_count = column.null_count,
                 .offset = column.offset,
                 .n_buffers = static_cast<std::int64_t>(buffers.size()),
                 .n_children = 0,
                 .buffers = buffers.data(),
                 .children = nullptr,
                 .dictionary = nullptr,
                 .release = &FakeStream::stay<ArrowArray>,
                 .private_data = nullptr};
    }

    static int give_next(ArrowArrayStream* own, ArrowArray* out) {
        FakeStream& s = self(own);
        if (static_cast<int>(s.given_) == s.error_at) return 5;
        *out = {};
        if (s.given_ == s.batches_.size()) return 0;
        const FakeBatch& batch = s.batches_[s.given_++];
        auto* held = new Held{.owner = &s};
        held->arrays.resize(2 * batch.size());
        held->buffers.resize(2 * batch.size() + 1);
        for (std::size_t k = 0; k < batch.size(); ++k) {
            lay_out(batch[k], held->buffers[k], held->arrays[k]);
            held->array_places.push_back(&held->arrays[k]);
            if (!batch[k].dictionary) continue;
            const std::size_t d = batch.size() + k;
            lay_out(*batch[k].dictionary, held->buffers[d], held->arrays[d]);
            held->arrays[k].dictionary = &held->arrays[d];
        }
        held->buffers.back().push_back(nullptr);
        *out = {.length = batch.empty() ? 0 : batch.front().length - batch.front().offset,
                .null_count = 0,
                .offset = 0,
                .n_buffers = 1,
                .n_children = static_cast<std::int64_t>(batch.size()),
                .buffers = held->buffers.back().data(),
                .children = held->array_places.data(),
                .dictionary = nullptr,
                .release = &FakeStream::drop<ArrowArray>,
                .private_data = held};
        for (const FakeColumn& column : batch) {
            out->length = std::min(out->length, column.length);
        }
        ++s.live;
        if (s.spoil_batch) s.spoil_batch(*out);
        return 0;
    }

    std::vector<FakeBatch> batches_;
    std::size_t given_ = 0;
};

}  // namespace mercer::testing
