/// A raised program: what a PyTorch graph or a kernel computes, as loops over elements, whatever
/// the code that computes it.
#pragma once

#include "analysis/raise/scalar.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace kernelskill::analysis::raise {

/// A tensor in memory, without gaps, its last axis the innermost.
struct Buffer {
    enum class Role : std::uint8_t {
        Input,  ///< Given by the caller.
        Weight, ///< Given once: a parameter, a buffer or a constant of a module.
        Local,
        Output, ///< Handed to the caller.
    };
    std::string name; ///< An identifier; unique.
    ScalarKind element = ScalarKind::Float;
    std::vector<Index> shape;
    Role role = Role::Local;
    std::string source; ///< The graph's name of an input or weight; else empty.
};

enum class Reducer : std::uint8_t {
    Sum,
    Product,
    Maximum, ///< NaN if one is.
    Minimum,
    FirstMaximum, ///< The index of the first largest element, flattened over the reduced axes.
    FirstMinimum,
};
/// "sum".
[[nodiscard]] std::string_view nameOf(Reducer reducer);
/// Whether the result is an index: it cannot be combined without the values.
[[nodiscard]] bool findsPlace(Reducer reducer);

/// Combines the values of `element` over the reduced axes.
struct Reduction {
    Reducer reducer = Reducer::Sum;
    Scalar element;
    ScalarKind type = ScalarKind::Float; ///< The result's type; sums of halves are kept in float.
};

struct Store {
    BufferId buffer = 0;
    std::vector<Index> position; ///< Over `axes`; no two elements of the axes store to one place.
    Scalar value;                ///< May name results of the reductions.
};

/// One loop nest. For each element of `axes`, the reductions run over all of `reduced`, then the
/// stores. Neither reads what the computation stores.
struct Computation {
    std::string name;                 ///< An identifier: "linear_relu".
    std::vector<std::string> sources; ///< The nodes of the graph that it does the work of.
    std::vector<Axis> axes;
    std::vector<Axis> reduced; ///< Empty: a map.
    std::vector<Reduction> reductions;
    /// The number of the axis of `axes` along which a scan runs; nullopt: it is no scan. In a scan,
    /// `reduced` is empty, and a reduction's result is that of all elements up to this one.
    std::optional<std::size_t> scanned;
    std::vector<Store> stores;
};

/// Work of a node that is not raised: left to a library.
struct LibraryCall {
    std::string node;   ///< The graph's node.
    std::string reason; ///< Why it is not raised.
    std::vector<BufferId> inputs;
    std::vector<BufferId> outputs;
    /// Whether the buffers have the node's tensors in channels-last order (channels_last.h).
    bool isChannelsLast = false;
};

using Step = std::variant<Computation, LibraryCall>;

struct Program {
    std::vector<Buffer> buffers;
    std::vector<Step> steps; ///< They can run in this order.
    std::uint32_t axes = 0;  ///< Axes that have been numbered.
};

/// `wanted`, or with a number behind it if a buffer has that name.
[[nodiscard]] std::string freshBufferName(const Program& program, const std::string& wanted);

/// The kinds of computations that schedules tell apart.
enum class Form : std::uint8_t {
    Map,
    Reduction,
    Contraction, ///< A sum of products of two tensors, each indexed by a part of the axes.
    Window,      ///< A reduction over an element's neighbours.
    Scan,
    Gather, ///< A map that reads where another tensor says.
};
[[nodiscard]] Form formOf(const Computation& computation);
[[nodiscard]] std::string_view nameOf(Form form);

/// The program as text, a step in a few lines, for people and tests.
[[nodiscard]] std::string textOf(const Program& program);

} // namespace kernelskill::analysis::raise
