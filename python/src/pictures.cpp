// Rows that are pictures, and pictures: changes, tangents, detection, denoising, super-resolution.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>

#include "common/arrays.hpp"
#include "common/bindings.hpp"
#include "common/interrupt.hpp"
#include "common/labels.hpp"
#include "common/settings.hpp"
#include "mercer/base/error.hpp"
#include "mercer/picture/denoise.hpp"
#include "mercer/picture/detect.hpp"
#include "mercer/picture/image.hpp"
#include "mercer/picture/superres.hpp"
#include "mercer/picture/tangent.hpp"
#include "mercer/picture/transform.hpp"

namespace mercer::python {
namespace {

using Pixels = nb::ndarray<const std::uint8_t, nb::c_contig, nb::device::cpu>;

/// (height, width) or (height, width, channels).
Image image_of(const Pixels& pixels) {
    if (pixels.ndim() != 2 && pixels.ndim() != 3) {
        throw InvalidInput("a picture is an array of bytes of 2 or 3 dimensions");
    }
    Image image;
    image.height = pixels.shape(0);
    image.width = pixels.shape(1);
    image.channels = pixels.ndim() == 3 ? pixels.shape(2) : 1;
    image.pixels.assign(pixels.data(), pixels.data() + pixels.size());
    image.check();
    return image;
}

nb::object array_of(Image image) {
    std::vector<std::size_t> shape{image.height, image.width};
    if (image.channels > 1) shape.push_back(image.channels);
    return nb::cast(give(std::move(image.pixels), shape));
}

std::vector<Image> images_of(const nb::list& pictures) {
    std::vector<Image> images;
    for (const nb::handle picture : pictures) images.push_back(image_of(nb::cast<Pixels>(picture)));
    return images;
}

/// Names of the ways, and the rows changed in each, one way below the other.
nb::tuple changed_rows(const Rows& rows, const std::string& ways, const std::string& shape,
                       double background) {
    const ImageShape form = parse_shape(shape, rows.columns(), background);
    const std::vector<NamedTransform> list = parse_transforms(ways, form);
    nb::list names;
    nb::list parts;
    for (const NamedTransform& way : list) {
        Rows changed;
        run_beside([&](const Progress& progress) {
            changed = transformed(rows, way.transform, progress);
        });
        names.append(way.name);
        parts.append(rows_to_arrays(changed));
    }
    return nb::make_tuple(names, parts);
}

/// B of the rows themselves.
nb::object tangent_matrix(const Rows& rows, const std::string& ways, const std::string& shape,
                          double background, double lambda, bool relative) {
    const ImageShape form = parse_shape(shape, rows.columns(), background);
    const std::vector<NamedTransform> list = parse_transforms(ways, form);
    Matrix<double> matrix;
    run_beside([&](const Progress& progress) {
        matrix = TangentMap::linear(rows, list, lambda, progress,
                                    relative ? TangentUnit::mean : TangentUnit::rows)
                     .matrix();
    });
    return nb::cast(give(std::move(matrix)));
}

nb::dict find_in_picture(const Model& model, const Pixels& pixels, nb::dict given) {
    const Settings s(std::move(given));
    DetectSettings settings;
    settings.height = s.count("height", settings.height);
    settings.width = s.count("width", settings.width);
    settings.keep = s.text("keep");
    settings.scale = s.number("scale", settings.scale);
    settings.largest = s.number("largest", settings.largest);
    settings.step = s.count("step", settings.step);
    settings.threshold = s.number("threshold", settings.threshold);
    settings.overlap = s.number("overlap", settings.overlap);
    settings.contrast = s.flag("contrast", settings.contrast);
    s.check("detection");
    const Image image = image_of(pixels);
    DetectRun found;
    run_beside([&](const Progress& progress) {
        settings.progress = progress;
        found = detect(model, image, settings);
    });
    Matrix<double> boxes(found.found.size(), 5);
    for (std::size_t i = 0; i < found.found.size(); ++i) {
        const Detection& d = found.found[i];
        const double row[] = {d.top, d.left, d.height, d.width, d.value};
        std::ranges::copy(row, boxes.row(i).begin());
    }
    nb::dict d;
    d["boxes"] = give(std::move(boxes));
    d["patches"] = found.patches;
    d["accepted"] = found.accepted;
    d["average_kernels"] = found.average_kernels;
    return d;
}

nb::object denoised_picture(const Pixels& noisy, const Pixels& example, const Kernel& kernel,
                            nb::dict given) {
    const Settings s(std::move(given));
    ImageDenoiseSettings settings;
    settings.patch = s.count("patch", settings.patch);
    settings.stride = s.count("stride", settings.stride);
    settings.sample = s.count("sample", settings.sample);
    settings.pca.common.kernel = kernel;
    settings.pca.components = s.count("components", settings.pca.components);
    settings.pca.common.seed = s.count("seed", settings.pca.common.seed);
    s.check("denoising");
    Image image;
    const Image before = image_of(noisy);
    const Image learnt_from = image_of(example);
    run_beside([&](const Progress& progress) {
        settings.denoise.preimage.progress = progress;
        image = denoise_image(before, learnt_from, settings);
    });
    return array_of(std::move(image));
}

Model learn_enlarging(const nb::list& pictures, const Kernel& kernel, nb::dict given) {
    const Settings s(std::move(given));
    SuperresSettings settings;
    settings.kind = s.flag("large", false) ? PatchKind::large : PatchKind::pairs;
    settings.factor = s.count("factor", settings.factor);
    settings.patch = s.count("patch", settings.patch);
    settings.sample = s.count("sample", settings.sample);
    settings.rounds = s.count("rounds", settings.rounds);
    settings.hebbian.common.kernel = kernel;
    settings.hebbian.components = s.count("components", settings.hebbian.components);
    settings.hebbian.dictionary = s.count("dictionary", settings.hebbian.dictionary);
    settings.hebbian.passes = s.count("passes", settings.hebbian.passes);
    settings.hebbian.common.seed = s.count("seed", settings.hebbian.common.seed);
    s.check("super-resolution");
    const std::vector<Image> examples = images_of(pictures);
    std::optional<Model> model;
    run_beside([&](const Progress& progress) {
        settings.hebbian.common.progress = progress;
        model = SuperResolution::learn(examples, settings).model();
    });
    return std::move(*model);
}

nb::object enlarged_picture(const Model& model, const Pixels& small, std::size_t stride) {
    const Image image = image_of(small);
    Image large;
    run_beside([&](const Progress& progress) {
        SuperResolution learnt(model);
        learnt.stride = stride;
        large = learnt.enlarge(image, progress);
    });
    return array_of(std::move(large));
}

Interpolation interpolation_named(const std::string& name) {
    for (const Interpolation way :
         {Interpolation::nearest, Interpolation::bilinear, Interpolation::bicubic}) {
        if (name == interpolation_name(way)) return way;
    }
    throw InvalidInput("method = '" + name + "' must be nearest, bilinear or bicubic");
}

}  // namespace

void bind_pictures(nb::module_& m) {
    m.def("changed_rows", &changed_rows);
    m.def("tangent_matrix", &tangent_matrix);
    m.def("detect", &find_in_picture);
    m.def("denoised_picture", &denoised_picture);
    m.def("learn_enlarging", &learn_enlarging);
    m.def("enlarged_picture", &enlarged_picture);
    m.def("read_picture", [](const std::string& path) { return array_of(read_image(path)); });
    m.def("write_picture", [](const Pixels& pixels, const std::string& path) {
        write_image(image_of(pixels), path);
    });
    m.def("stretched_picture",
          [](const Pixels& pixels, std::size_t factor, const std::string& method) {
              return array_of(enlarge(image_of(pixels), factor, interpolation_named(method)));
          });
    m.def("shrunk_picture", [](const Pixels& pixels, std::size_t factor) {
        return array_of(shrink(image_of(pixels), factor));
    });
    m.def("psnr", [](const Pixels& a, const Pixels& b) { return psnr(image_of(a), image_of(b)); });
    m.def("ssim", [](const Pixels& a, const Pixels& b) { return ssim(image_of(a), image_of(b)); });
}

}  // namespace mercer::python
