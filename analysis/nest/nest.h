/// A kernel as a loop nest, whatever the style it is written in: blocks and threads are the outer
/// parallel loops, early exits are guards, index variables and moved pointers are followed to the
/// accesses. What is not understood is an opaque statement with a reason.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/nest/condition.h"
#include "analysis/nest/symbols.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace kernelskill::analysis {

using NestNodeId = std::uint32_t;   ///< Index into Nest::nodes.
using NestArrayId = std::uint32_t;  ///< Index into Nest::arrays.
using NestAccessId = std::uint32_t; ///< Index into Nest::accesses.

/// A function whose code is in the nest: the kernel, or a device function at one of its calls.
struct NestFrame {
    std::uint32_t function = noId; ///< Index into FileModel::deviceFunctions; noId: the kernel.
    std::uint32_t caller = noId;   ///< Index into Nest::frames; noId for the kernel.
    ExprId call = noId;            ///< In the caller's arena.
};

/// Memory that accesses go to: an array, or a variable of each thread (then without extents).
struct NestArray {
    std::string name; ///< "a", "p.data", "tile", "sum".
    MemorySpace space = MemorySpace::Global;
    std::string element; ///< The element's type as written.
    ScalarKind scalar = ScalarKind::Unknown;
    std::uint8_t lanes = 1;
    std::uint32_t elementSize = 0; ///< Bytes; 0 where a template parameter decides.
    std::vector<std::int64_t> extents;
    bool isVariable = false; ///< A scalar or an object of each thread.
    bool isRestrict = false;
    bool isReadOnly = false; ///< Declared const behind the pointer, or __constant__.
    bool isLoaded = false;   ///< Behind a pointer that is itself read from memory.
    std::uint32_t frame = 0; ///< Where it is declared.
    VariableId variable = noId;
};

struct NestSubscript {
    IndexExpression index;
    std::optional<IndexExpression> extent; ///< nullopt: not known, as of the outermost one.
    bool operator==(const NestSubscript&) const = default;
};

enum class NestAccessForm : std::uint8_t {
    Affine, ///< Each subscript is affine in iterators, positions and what derives from them.
    /// The same with factors that a launch decides, where they are no dimension's extent: `i * s`.
    Parametric,
    Indirect, ///< The index or the array depends on numbers loaded from memory.
    Opaque,   ///< Where it goes is not followed; `reason` tells why.
};

struct NestAccess {
    NestArrayId array = noId; ///< noId: unknown.
    AccessKind kind = AccessKind::Read;
    NestNodeId node = noId; ///< The statement.
    std::uint32_t frame = 0;
    ExprId expression = noId; ///< In the frame's arena; noId for the variable of a declaration.
    std::uint32_t width = 0;  ///< Bytes; 0 where a template parameter decides.
    std::string field;        ///< ".x", ".position.y"; empty for the whole element.
    /// From the array's beginning, in elements of `unit` bytes.
    std::optional<IndexExpression> index;
    std::uint32_t unit = 0;
    /// The index by dimensions, outermost first, and those of an array within `field` behind them.
    std::vector<NestSubscript> subscripts;
    NestCondition condition; ///< Within the statement: a ?: or && around it.
    /// The split into dimensions is right only if these hold, which guards and loops do not show:
    /// "j + 1 < n".
    std::vector<NestCondition> assumptions;
    NestAccessForm form = NestAccessForm::Affine;
    std::string reason;
};

enum class NestLoopStyle : std::uint8_t {
    Serial,       ///< Each thread runs all rounds.
    GridStride,   ///< The threads of the grid along `axis` share the rounds.
    BlockStride,  ///< The threads of a block along `axis` share them.
    BlocksOfGrid, ///< The blocks of the grid along `axis` share them.
    WarpStride,   ///< The lanes of a warp share them.
};

struct NestLoop {
    NestLoopStyle style = NestLoopStyle::Serial;
    std::uint8_t axis = 0;
    LoopKind kind = LoopKind::For;
    /// Its value is that of the loop's variable at the start of a round; where no variable counts
    /// the rounds, it is their number.
    Symbol iterator;
    VariableId variable = noId; ///< noId: rounds are counted by no variable.
    std::optional<IndexExpression> first;
    /// The first value that is not reached, upwards or downwards; nullopt where not known.
    std::optional<IndexExpression> end;
    std::optional<IndexExpression> step; ///< nullopt for a multiplicative one, see `stepOperator`.
    std::string stepOperator;            ///< "+=", ">>=", "*=" …
    /// The constant operand of a multiplicative step: 1 of `s >>= 1`, 2 of `s *= 2`. nullopt if the
    /// operand is no constant.
    std::optional<std::int64_t> factor;
    bool isDownward = false;
    bool mayStop = false; ///< break, return or a further condition may end it before `end`.
    std::string unknown;  ///< Why bounds are not known; empty if they are.
};

struct NestGuard {
    NestCondition condition;
    bool isExit = false; ///< Made from an early return, continue or break.
};

struct NestBarrier {
    BarrierKind kind = BarrierKind::SyncThreads;
    ExprId call = noId;
};

enum class NestStatementKind : std::uint8_t { Compute, Test };

struct NestStatement {
    NestStatementKind kind = NestStatementKind::Compute; ///< Test: a condition that reads memory.
    ExprId expression = noId;           ///< What it computes, in the frame's arena.
    VariableId declared = noId;         ///< The variable that it initialises.
    std::vector<NestAccessId> accesses; ///< Reads before the write, in the order of evaluation.
    /// The operator of `x = x op y`, where the text has that shape: "+", "*", "min", "max", "&" …
    std::string reduction;
    std::string exchange; ///< The warp function that it calls: "__shfl_down_sync".
    std::string opaque;   ///< Why its effects are not known; empty if they are.
};

struct NestNode {
    std::variant<NestLoop, NestGuard, NestBarrier, NestStatement> content;
    NestNodeId parent = noId;
    std::vector<NestNodeId> children;
    std::uint32_t frame = 0;
    StmtId statement = noId; ///< In the frame's arena.
    Span span;               ///< In the file of the frame's function.

    [[nodiscard]] const NestLoop* loop() const { return std::get_if<NestLoop>(&content); }
    [[nodiscard]] const NestGuard* guard() const { return std::get_if<NestGuard>(&content); }
    [[nodiscard]] const NestBarrier* barrier() const { return std::get_if<NestBarrier>(&content); }
    [[nodiscard]] const NestStatement* computation() const {
        return std::get_if<NestStatement>(&content);
    }
};

/// Grid and block along an axis; nullopt where launches do not tell or differ.
struct NestExtents {
    std::array<std::optional<std::int64_t>, 3> grid;
    std::array<std::optional<std::int64_t>, 3> block;
};

/// A value: it keeps no reference to the model that it was made from.
struct Nest {
    std::string kernel; ///< Qualified name.
    NestSymbols symbols;
    NestExtents extents;
    std::vector<NestFrame> frames; ///< The kernel first.
    std::vector<NestArray> arrays;
    std::vector<NestAccess> accesses;
    std::vector<NestNode> nodes; ///< A parent before its children, in the order of execution.
    std::vector<NestNodeId> roots;
    /// Template parameters as the launches of the file instantiate them, where these agree.
    std::map<std::string, std::string> instantiation;

    [[nodiscard]] const NestNode& node(NestNodeId id) const { return nodes.at(id); }
};

/// Follows the kernel's code once. Never fails: what it does not follow is opaque. Gives up on
/// following indices after some hundred thousand expressions.
[[nodiscard]] Nest buildNest(const FileModel& file, const KernelModel& kernel);

/// The nest, built when it is first asked for in this parse if `kernel` is one of file.kernels.
/// Thread-safe; the work is bounded as that of buildNest().
[[nodiscard]] std::shared_ptr<const Nest> nestOf(const FileModel& file, const KernelModel& kernel);

/// The function whose arena a frame's statements and expressions are in.
[[nodiscard]] const KernelModel& functionOf(const FileModel& file, const KernelModel& kernel,
                                            const NestFrame& frame);

/// The loops and guards around a node, outermost first, without itself.
[[nodiscard]] std::vector<NestNodeId> around(const Nest& nest, NestNodeId node);

/// The loops around both nodes, outermost first.
[[nodiscard]] std::vector<NestNodeId> commonLoops(const Nest& nest, NestNodeId a, NestNodeId b);

} // namespace kernelskill::analysis
