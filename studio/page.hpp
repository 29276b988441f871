// The page's files, carried in the program.
#pragma once

#include <string_view>

namespace mercer::studio {

struct PageFile {
    std::string_view path;
    std::string_view type;
    std::string_view content;
};

/// The file of this path, "/" being the page itself; null when there is none.
const PageFile* page_file(std::string_view path);

}  // namespace mercer::studio
