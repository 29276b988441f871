#include "mercer/data/formats/detail/write_rows.hpp"

#include <algorithm>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"

namespace mercer::formats {

void write_rows(std::size_t rows, const Progress& progress, Output& output,
                const std::function<void(std::string&, std::size_t, std::size_t)>& append) {
    constexpr std::size_t grain = 256;
    constexpr std::size_t wave = 32;
    const std::size_t pieces = (rows + grain - 1) / grain;
    std::vector<std::string> texts(std::min(wave, pieces));
    for (std::size_t first = 0; first < pieces; first += wave) {
        const double fraction = static_cast<double>(first) / static_cast<double>(pieces);
        if (!keep_going(progress, {.task = "writing", .fraction = fraction})) throw Cancelled();
        const std::size_t count = std::min(wave, pieces - first);
        parallel_for(count, [&](std::size_t k) {
            texts[k].clear();
            append(texts[k], (first + k) * grain, std::min(rows, (first + k + 1) * grain));
        });
        for (std::size_t k = 0; k < count; ++k) output.write(texts[k]);
    }
}

void write_label_lines(const Labels& labels, Output& output) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const std::string text = labels.text(i);
        if (text.empty() || text.find('\n') != std::string::npos) {
            throw InvalidInput("label " + quoted(text) +
                               " cannot stand on a line of its own; write an .npy file");
        }
        output.write(text + "\n");
    }
}

}  // namespace mercer::formats
