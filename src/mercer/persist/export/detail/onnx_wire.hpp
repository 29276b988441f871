// The few messages of ONNX (onnx.proto of the onnx project, IR version 8) that an exported model
// consists of, in the wire format of protocol buffers: fields as (number << 3 | type), whole
// numbers seven bits at a time, everything else as its length and its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mercer::exports {

/// A message under construction.
class WireMessage {
   public:
    void number(unsigned field, std::int64_t value);
    void bytes(unsigned field, std::string_view value);
    void message(unsigned field, const WireMessage& value) { bytes(field, value.text_); }
    const std::string& text() const { return text_; }

   private:
    void varint(std::uint64_t value);
    std::string text_{};
};

enum class OnnxType { real32 = 1, whole64 = 7, text = 8, truth = 9, real64 = 11 };

/// A whole number, or several of them, that an operator is told by name.
struct OnnxAttribute {
    std::string name;
    std::vector<std::int64_t> numbers;
    bool list = false;
    const WireMessage* graph = nullptr;  ///< the body of a loop
};

/// One dimension of what goes in or out: a number, or a name where it varies.
struct OnnxDimension {
    std::size_t size = 0;
    std::string name{};
};

/// A graph under construction. Names of values are made here: "v1", "v2", …; the body of a loop
/// shares the counter of the graph around it, so that no name comes twice.
class OnnxGraph {
   public:
    /// `real`: what numbers are held as.
    OnnxGraph(OnnxType real, std::size_t& counter) : real_(real), counter_(counter) {}

    /// The result of an operator.
    std::string node(const std::string& op, const std::vector<std::string>& inputs,
                     const std::vector<OnnxAttribute>& attributes = {});
    /// The same with a name that is given, or names where there are several results.
    void node_to(const std::vector<std::string>& outputs, const std::string& op,
                 const std::vector<std::string>& inputs,
                 const std::vector<OnnxAttribute>& attributes = {});
    /// Constants; those that are equal are one.
    std::string reals(std::span<const double> values, const std::vector<std::size_t>& dimensions);
    std::string real(double value) { return reals(std::span(&value, 1), {}); }
    std::string wholes(const std::vector<std::int64_t>& values, bool scalar = false);
    std::string texts(const std::vector<std::string>& values);
    std::string truth(bool value);

    void input(const std::string& name, OnnxType type, const std::vector<OnnxDimension>& shape);
    void output(const std::string& name, OnnxType type, const std::vector<OnnxDimension>& shape);
    std::string new_name() { return "v" + std::to_string(++counter_); }

    OnnxType real_type() const { return real_; }
    std::size_t& counter() { return counter_; }
    WireMessage finish(const std::string& name);

   private:
    std::string tensor(OnnxType type, const std::vector<std::size_t>& dimensions,
                       const std::string& raw);
    static WireMessage value_info(const std::string& name, OnnxType type,
                                  const std::vector<OnnxDimension>& shape);

    OnnxType real_;
    std::size_t& counter_;
    std::map<std::string, std::string> known_{};  ///< bytes of constants → names
    WireMessage message_{};
};

}  // namespace mercer::exports
