/// Limitations are what the stages after the reader cannot take of a program, each with its node.
#pragma once

#include "engine/graph/program.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

struct Limitation {
    enum class Kind : std::uint8_t {
        ControlFlow,     ///< A higher-order operator, with subgraphs.
        Mutation,        ///< A tensor that exists before the call is changed by it.
        UnknownOperator, ///< It is not of operators.h.
        UnknownArgument, ///< An argument of a kind that no operator of operators.h has.
        DataDependent,   ///< An extent that is known only when the program runs.
        Training,        ///< A loss or a gradient.
        Object,          ///< An input or output that is neither tensor nor number.
        LeftOut,         ///< A sentence of Program::notes.
    };
    Kind kind = Kind::UnknownOperator;
    std::string node;     ///< Its name; empty if the whole program is meant.
    std::string target;   ///< The node's operator.
    std::string module;   ///< The node's module; may be empty.
    std::string sentence; ///< It names node, operator and module.
};

/// Returns the limitations in the order of the nodes, then of outputs and notes.
[[nodiscard]] std::vector<Limitation> limitations(const Program& program);

/// "control-flow"
[[nodiscard]] std::string_view nameOf(Limitation::Kind kind);

} // namespace kernelskill::engine::graph
