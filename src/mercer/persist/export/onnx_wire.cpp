#include "mercer/persist/export/detail/onnx_wire.hpp"

#include <bit>
#include <cstring>

namespace mercer::exports {
namespace {

/// The bytes of numbers, the lowest first, as ONNX wants them.
template <class Bits, class T>
std::string little_endian(std::span<const T> values) {
    std::string raw;
    raw.reserve(values.size() * sizeof(Bits));
    for (const T value : values) {
        const auto bits = std::bit_cast<Bits>(value);
        for (std::size_t b = 0; b < sizeof bits; ++b) {
            raw += static_cast<char>(static_cast<unsigned char>((bits >> (8 * b)) & 0xFFU));
        }
    }
    return raw;
}

WireMessage attribute_message(const OnnxAttribute& attribute) {
    WireMessage message;
    message.bytes(1, attribute.name);
    if (attribute.graph != nullptr) {
        message.message(6, *attribute.graph);
        message.number(20, 5);
    } else if (attribute.list) {
        for (const std::int64_t number : attribute.numbers) message.number(8, number);
        message.number(20, 7);
    } else {
        message.number(3, attribute.numbers.front());
        message.number(20, 2);
    }
    return message;
}

}  // namespace

void WireMessage::varint(std::uint64_t value) {
    while (value >= 0x80) {
        text_ += static_cast<char>(static_cast<unsigned char>((value & 0x7FU) | 0x80U));
        value >>= 7U;
    }
    text_ += static_cast<char>(static_cast<unsigned char>(value));
}

void WireMessage::number(unsigned field, std::int64_t value) {
    varint(std::uint64_t{field} << 3U);
    varint(static_cast<std::uint64_t>(value));
}

void WireMessage::bytes(unsigned field, std::string_view value) {
    varint((std::uint64_t{field} << 3U) | 2U);
    varint(value.size());
    text_ += value;
}

void OnnxGraph::node_to(const std::vector<std::string>& outputs, const std::string& op,
                        const std::vector<std::string>& inputs,
                        const std::vector<OnnxAttribute>& attributes) {
    WireMessage node;
    for (const std::string& input : inputs) node.bytes(1, input);
    for (const std::string& output : outputs) node.bytes(2, output);
    node.bytes(4, op);
    for (const OnnxAttribute& attribute : attributes) {
        node.message(5, attribute_message(attribute));
    }
    message_.message(1, node);
}

std::string OnnxGraph::node(const std::string& op, const std::vector<std::string>& inputs,
                            const std::vector<OnnxAttribute>& attributes) {
    std::string name = new_name();
    node_to({name}, op, inputs, attributes);
    return name;
}

std::string OnnxGraph::tensor(OnnxType type, const std::vector<std::size_t>& dimensions,
                              const std::string& raw) {
    WireMessage message;
    for (const std::size_t size : dimensions) message.number(1, static_cast<std::int64_t>(size));
    message.number(2, static_cast<std::int64_t>(type));
    message.bytes(9, raw);
    const auto found = known_.find(message.text());
    if (found != known_.end()) return found->second;
    std::string name = new_name();
    known_.emplace(message.text(), name);
    message.bytes(8, name);
    message_.message(5, message);
    return name;
}

std::string OnnxGraph::reals(std::span<const double> values,
                             const std::vector<std::size_t>& dimensions) {
    if (real_ == OnnxType::real64) {
        return tensor(real_, dimensions, little_endian<std::uint64_t>(values));
    }
    const std::vector<float> narrow(values.begin(), values.end());
    return tensor(real_, dimensions, little_endian<std::uint32_t>(std::span<const float>(narrow)));
}

std::string OnnxGraph::wholes(const std::vector<std::int64_t>& values, bool scalar) {
    const std::span<const std::int64_t> all(values);
    std::vector<std::size_t> dimensions;
    if (!scalar) dimensions.push_back(values.size());
    return tensor(OnnxType::whole64, dimensions, little_endian<std::uint64_t>(all));
}

std::string OnnxGraph::truth(bool value) {
    return tensor(OnnxType::truth, {}, std::string(1, value ? '\1' : '\0'));
}

std::string OnnxGraph::texts(const std::vector<std::string>& values) {
    std::string name = new_name();
    WireMessage message;
    message.number(1, static_cast<std::int64_t>(values.size()));
    message.number(2, static_cast<std::int64_t>(OnnxType::text));
    for (const std::string& value : values) message.bytes(6, value);
    message.bytes(8, name);
    message_.message(5, message);
    return name;
}

WireMessage OnnxGraph::value_info(const std::string& name, OnnxType type,
                                  const std::vector<OnnxDimension>& shape) {
    WireMessage dimensions;
    for (const OnnxDimension& dimension : shape) {
        WireMessage one;
        if (dimension.name.empty()) {
            one.number(1, static_cast<std::int64_t>(dimension.size));
        } else {
            one.bytes(2, dimension.name);
        }
        dimensions.message(1, one);
    }
    WireMessage tensor_type;
    tensor_type.number(1, static_cast<std::int64_t>(type));
    tensor_type.message(2, dimensions);
    WireMessage value_type;
    value_type.message(1, tensor_type);
    WireMessage info;
    info.bytes(1, name);
    info.message(2, value_type);
    return info;
}

void OnnxGraph::input(const std::string& name, OnnxType type,
                      const std::vector<OnnxDimension>& shape) {
    message_.message(11, value_info(name, type, shape));
}

void OnnxGraph::output(const std::string& name, OnnxType type,
                       const std::vector<OnnxDimension>& shape) {
    message_.message(12, value_info(name, type, shape));
}

WireMessage OnnxGraph::finish(const std::string& name) {
    message_.bytes(2, name);
    return std::move(message_);
}

}  // namespace mercer::exports
