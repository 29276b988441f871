// FASTA: a line that begins with > and describes what follows, then a sequence over any number of
// lines. A description with "label=…" gives the label.
#include <algorithm>
#include <cstring>

#include "mercer/base/file.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/formats/detail/input.hpp"
#include "mercer/data/formats/detail/write_rows.hpp"

namespace mercer::formats {
namespace {

constexpr std::string_view label_key = "label=";

/// The word behind "label=" that begins a word of the description, or nothing.
std::optional<std::string_view> label_in(std::string_view description) {
    for (std::size_t at = description.find(label_key); at != std::string_view::npos;
         at = description.find(label_key, at + 1)) {
        if (at > 0 &&
            std::string_view(" \t,;|>").find(description[at - 1]) == std::string_view::npos) {
            continue;
        }
        const std::string_view rest = description.substr(at + label_key.size());
        return rest.substr(0, std::min(rest.find_first_of(" \t\r,;|"), rest.size()));
    }
    return std::nullopt;
}

class FastaParser {
   public:
    explicit FastaParser(const Input& input) : input_(input) {}

    Dataset parse() {
        for (const char* p = input_.begin(); p != input_.end();) {
            const auto left = static_cast<std::size_t>(input_.end() - p);
            const auto* end = static_cast<const char*>(std::memchr(p, '\n', left));
            line({p, static_cast<std::size_t>(end - p)});
            p = end + 1;
        }
        finish();
        Dataset data;
        data.x = Rows().with_objects({ObjectColumn::texts("sequence", std::move(sequences_))});
        data.y = labels_from(input_, std::move(labels_));
        return data;
    }

   private:
    void line(std::string_view text) {
        if (text.size() > input_.options.longest_line) throw Mistake{text.data(), ""};
        if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
        if (text.starts_with('>')) return description(text);
        if (text.starts_with(';')) return;  // an old way of comments
        if (text.find_first_not_of(" \t") == std::string_view::npos) return;
        if (!open_) {
            throw Mistake{text.data(), "found " + word_at(input_, text.data()) +
                                           ", expected a line that begins with > first"};
        }
        for (const char c : text) {
            if (c == ' ' || c == '\t') continue;
            if (static_cast<unsigned char>(c) < ' ') {
                throw Mistake{text.data(), "found a byte that is no letter in a sequence"};
            }
            sequence_ += c;
        }
    }

    void description(std::string_view text) {
        finish();
        open_ = text.data();
        const auto label = label_in(text.substr(1));
        const bool first = sequences_.size() == 0;
        if (first) labelled_ = label.has_value();
        if (label.has_value() != labelled_) {
            throw Mistake{text.data(), labelled_
                                           ? "this record has no label=, as those before have"
                                           : "this record has a label=, and those before have "
                                             "none"};
        }
        if (!label) return;
        const std::optional<double> number =
            input_.options.text_labels ? std::nullopt : parse_number(*label);
        if (number) {
            labels_.add(*number, label->data());
        } else {
            labels_.add(std::string(*label), label->data());
        }
    }

    void finish() {
        if (open_ == nullptr) return;
        if (sequence_.empty()) throw Mistake{open_, "this record has no sequence"};
        sequences_.push_back(sequence_);
        sequence_.clear();
    }

    const Input& input_;
    Texts sequences_{};
    LabelColumn labels_{};
    std::string sequence_{};
    const char* open_ = nullptr;  ///< the description of the record being read
    bool labelled_ = false;
};

void write(const Dataset& data, const std::string& path, const WriteOptions& options,
           Output& output) {
    if (data.columns() > 0 || data.x.objects().size() != 1) {
        throw InvalidInput(Location{.file = path},
                           "FASTA holds one column of texts and no numbers; write csv");
    }
    const ObjectColumn& column = data.x.objects().front();
    write_rows(data.size(), options.progress, output,
               [&](std::string& text, std::size_t first, std::size_t last) {
                   for (std::size_t i = first; i < last; ++i) {
                       text += '>' + std::to_string(i + 1);
                       if (!data.y.empty()) text += ' ' + std::string(label_key) + data.y.text(i);
                       text += '\n';
                       text += column.text(i);
                       text += '\n';
                   }
               });
}

}  // namespace

Format fasta() {
    return {.name = "fasta",
            .title = "FASTA",
            .about = "sequences, each below a line that begins with >; label=… in it is the label",
            .suffixes = {".fasta", ".fa"},
            .recognise =
                [](const Input& input) {
                    const std::size_t at = input.bytes.find_first_not_of(" \t\r\n");
                    const bool is = at != std::string_view::npos && input.bytes[at] == '>';
                    return Match{is ? Certainty::certain : Certainty::none};
                },
            .read =
                [](const Input& input) {
                    try {
                        return FastaParser(input).parse();
                    } catch (const Mistake& mistake) {
                        fail_mistake(input, mistake);
                    }
                },
            .uses = {.text_labels = true},
            .write = write,
            .keeps = {.weights = false, .texts = true}};
}

}  // namespace mercer::formats
