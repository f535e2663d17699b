/// A PyTorch program as `torch.export.save` writes it: a graph of ATen operators, and the tensors
/// that it names.
///
/// Source of the format: torch/_export/serde/schema.py of PyTorch 2.6 to 2.11 (schema version 8).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kernelskill::engine::graph {

/// The element types of tensors, by torch's names; numbered as in the archive.
enum class ElementType : std::uint8_t {
    UInt8 = 1,
    Int8 = 2,
    Int16 = 3,
    Int32 = 4,
    Int64 = 5,
    Float16 = 6,
    Float32 = 7,
    Float64 = 8,
    Complex32 = 9,
    Complex64 = 10,
    Complex128 = 11,
    Bool = 12,
    BFloat16 = 13,
    UInt16 = 28,
    Float8E4M3FN = 29,
    Float8E5M2 = 30,
    Float8E4M3FNUZ = 31,
    Float8E5M2FNUZ = 32,
};

/// Bytes of one element.
[[nodiscard]] std::size_t sizeOf(ElementType type);
/// "float32".
[[nodiscard]] std::string_view nameOf(ElementType type);

/// An extent, a stride or an offset, in elements.
struct Extent {
    /// The value at export if it is dynamic; -1: it depends on data.
    std::int64_t value = 0;
    std::string expression; ///< Over symbols, if it is dynamic: "2*s77 + 1"; else empty.

    [[nodiscard]] bool isDynamic() const { return !expression.empty(); }
    bool operator==(const Extent&) const = default;
};

struct TensorType {
    ElementType element = ElementType::Float32;
    std::vector<Extent> sizes;
    std::vector<Extent> strides;
    Extent offset;
};

/// The name of a value of the graph.
struct ValueName {
    std::string name;
    bool operator==(const ValueName&) const = default;
};
/// torch's number of a scalar type, a layout or a memory format.
struct EnumValue {
    enum class Kind : std::uint8_t { ScalarType, Layout, MemoryFormat } kind;
    int value = 0;
};
struct Device {
    std::string type; ///< "cpu", "cuda".
    std::optional<int> index;
};
/// A number of the graph that is computed while it runs, or a constant in a list with such.
using SymbolicInt = std::variant<std::int64_t, ValueName>;
/// An argument of a kind that has no type here: a subgraph, an object, a complex number. It is kept
/// to be named (limitations.h).
struct OtherArgument {
    std::string kind;               ///< The archive's word for it: "as_graph".
    std::string name;               ///< The name of the subgraph, object or operator; may be empty.
    std::vector<std::string> reads; ///< The values of the graph that it names.
};

/// The value that a node gives a parameter of its operator. monostate: None.
using Argument = std::variant<std::monostate, ValueName, std::vector<ValueName>,
                              std::vector<std::optional<ValueName>>, std::int64_t, double, bool,
                              std::string, std::vector<std::int64_t>, std::vector<double>,
                              std::vector<bool>, std::vector<std::string>, SymbolicInt,
                              std::vector<SymbolicInt>, EnumValue, Device, OtherArgument>;

/// Returns the values of the graph that an argument names, in order.
[[nodiscard]] std::vector<std::string> valuesIn(const Argument& argument);

struct NamedArgument {
    std::string name; ///< The name of the operator's parameter: "input".
    Argument value;
};

/// A call of an operator.
struct Node {
    std::string name;
    std::string target; ///< "aten.linear.default".
    std::vector<NamedArgument> arguments;
    /// The results by position; a list of tensors is one result with several names. An empty name:
    /// the result is not used.
    std::vector<std::vector<std::string>> results;
    std::string
        module; ///< The path of the module that made the call: "layers.0.attn"; may be empty.
};

/// A value of the graph that no node makes.
struct Input {
    /// Fixed: a user's input that is a number, a string or None, and always what it was when the
    /// program was exported.
    enum class Kind : std::uint8_t { User, Fixed, Parameter, Buffer, Constant, Object, Token };
    Kind kind = Kind::User;
    std::string value;  ///< Its name in the graph.
    std::string target; ///< The tensor's name in `Program::tensors`; empty for a user's input.
    Argument fixed;     ///< The value of a fixed input.
};

struct Output {
    enum class Kind : std::uint8_t {
        User,
        BufferMutation,
        ParameterMutation,
        InputMutation,
        Loss,
        Gradient,
        Token,
    };
    Kind kind = Kind::User;
    std::string value;  ///< Its name in the graph; empty if it is `fixed`.
    std::string target; ///< The tensor that is mutated or has the gradient; else empty.
    Argument fixed;     ///< A user's output that no node computes: a number or None.
};

/// The bytes of a tensor in the archive, which stays mapped as long as one is held.
struct TensorData {
    TensorType type;
    std::span<const std::byte> bytes; ///< The storage, to which strides and offset apply.
    std::shared_ptr<const void> owner;
};

/// The values that a symbol of extents can have.
struct SymbolRange {
    std::int64_t low = 0;
    std::optional<std::int64_t> high; ///< nullopt: no bound.
};

/// A condition that the program's extents meet: `left` is equal to `right`, or as `kind` says.
struct ExtentRelation {
    enum class Kind : std::uint8_t { Equal, Different, AtMost, Less };
    Kind kind = Kind::Equal;
    std::string left; ///< Expressions over symbols, as an extent has them.
    std::string right;
    std::string node; ///< The node that asserts it; empty: the bound of an extent.
};

struct Program {
    std::string torchVersion; ///< "2.11.0+cpu"; may be empty.
    int schemaMajor = 0;
    int schemaMinor = 0;
    std::vector<Input> inputs;
    std::vector<Output> outputs;
    std::vector<Node> nodes; ///< They can run in this order.
    std::map<std::string, TensorType> values;
    std::map<std::string, Extent> symbolicInts; ///< Values of the graph that are integers.
    std::set<std::string> otherValues;          ///< Those that are floats, truths or objects.
    std::map<std::string, SymbolRange> symbols; ///< Those of extents and of `symbolicInts`.
    std::vector<ExtentRelation> relations;      ///< What holds beside the ranges of symbols.
    /// Parameters, buffers and constants by their names; a tensor without data is one that the
    /// archive names but does not hold.
    std::map<std::string, TensorData> tensors;
    /// Values for the user's inputs that are tensors, in their order; empty if the archive has
    /// none.
    std::vector<TensorData> sampleInputs;
    /// Each note says what the archive holds and the program lacks.
    std::vector<std::string> notes;
};

} // namespace kernelskill::engine::graph
