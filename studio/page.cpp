#include "studio/page.hpp"

#include <array>
#include <span>

namespace mercer::embedded_bytes {
extern const std::span<const unsigned char> page_index_html, page_style_css, page_main_js,
    page_plane_js, page_panels_js, page_lecture_js, page_structures_js;
}

namespace mercer::studio {
namespace {

std::string_view text(std::span<const unsigned char> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

const PageFile* page_file(std::string_view path) {
    using namespace embedded_bytes;
    static const std::array<PageFile, 7> files{
        {{"/", "text/html; charset=utf-8", text(page_index_html)},
         {"/style.css", "text/css; charset=utf-8", text(page_style_css)},
         {"/main.js", "text/javascript; charset=utf-8", text(page_main_js)},
         {"/plane.js", "text/javascript; charset=utf-8", text(page_plane_js)},
         {"/panels.js", "text/javascript; charset=utf-8", text(page_panels_js)},
         {"/lecture.js", "text/javascript; charset=utf-8", text(page_lecture_js)},
         {"/structures.js", "text/javascript; charset=utf-8", text(page_structures_js)}}};
    for (const PageFile& file : files) {
        if (file.path == path) return &file;
    }
    return nullptr;
}

}  // namespace mercer::studio
