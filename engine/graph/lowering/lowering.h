/// Rules for operators see the values of the graph as tensors, and a node's arguments, through
/// Lowering.
#pragma once

#include "analysis/raise/builder.h"
#include "engine/graph/lowering/scalars.h"
#include "engine/graph/program.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine::graph {

using analysis::raise::Builder;
using analysis::raise::Reducer;
using analysis::raise::Tensor;

/// Why a node is not raised. Thrown by Lowering and by rules, and caught where the rule was called.
struct NotRaised {
    std::string reason;
};

class Lowering {
public:
    Lowering(const Program& graph, Builder& builder) : graph_(graph), builder_(builder) {}

    /// The node whose arguments are asked for.
    void enter(const Node& node) { node_ = &node; }
    [[nodiscard]] const Node& node() const { return *node_; }
    [[nodiscard]] Builder& builder() { return builder_; }
    void define(const std::string& value, Tensor tensor);
    /// A value of the graph that is an integer and computed of extents.
    void defineInteger(const std::string& value, Index index);
    /// The integer of that name: as defineInteger() gave it, else as the archive states it.
    [[nodiscard]] Index integerValue(const std::string& name) const;
    [[nodiscard]] const std::map<std::string, Index>& integerValues() const { return integers_; }
    /// Also one of a type without a counterpart, which only a library reads.
    [[nodiscard]] const Tensor& anyValue(const std::string& name) const;
    [[nodiscard]] const Tensor& value(const std::string& name) const;
    /// The type that the archive states for a result of the node, by its number.
    [[nodiscard]] ScalarKind resultType(std::size_t result = 0) const;
    /// The same; Unknown for a type without a counterpart.
    [[nodiscard]] ScalarKind anyResultType(std::size_t result) const;
    [[nodiscard]] std::vector<Index> resultShape(std::size_t result = 0) const;

    // Arguments by the operator's parameters. Those that are missing or of another kind: NotRaised.
    [[nodiscard]] Tensor tensor(std::string_view parameter) const;
    [[nodiscard]] std::optional<Tensor> optionalTensor(std::string_view parameter) const;
    [[nodiscard]] std::vector<Tensor> tensors(std::string_view parameter) const;
    [[nodiscard]] std::vector<std::optional<Tensor>>
    optionalTensors(std::string_view parameter) const;
    /// A tensor, or a number, also one that is computed of extents, as a tensor without axes.
    [[nodiscard]] Tensor operand(std::string_view parameter) const;
    [[nodiscard]] bool isNone(std::string_view parameter) const;
    [[nodiscard]] std::int64_t integer(std::string_view parameter) const;
    [[nodiscard]] double real(std::string_view parameter) const;
    [[nodiscard]] bool truth(std::string_view parameter) const;
    [[nodiscard]] std::string text(std::string_view parameter) const;
    [[nodiscard]] std::vector<std::int64_t> integers(std::string_view parameter) const;
    /// Integers for `count` axes: one for all, or one for each; `none` where there is none.
    [[nodiscard]] std::vector<std::int64_t>
    perAxis(std::string_view parameter, std::size_t count,
            const std::vector<std::int64_t>& none = {}) const;
    /// Sizes, which may be symbolic. -1 stays -1.
    [[nodiscard]] std::vector<Index> sizes(std::string_view parameter) const;
    [[nodiscard]] Index size(std::string_view parameter) const;
    /// The axes that a list or a number names, in rising order; all of them if there is none.
    [[nodiscard]] std::vector<std::size_t> axes(std::string_view parameter, std::size_t rank) const;

    /// The tensor to be read several times an element: one that costs more than `cost` is written
    /// to a buffer first.
    [[nodiscard]] Tensor reread(const Tensor& tensor, std::size_t cost = 0);
    [[nodiscard]] Index indexOf(const Extent& extent) const;

private:
    [[nodiscard]] Argument argument(std::string_view parameter) const;
    [[nodiscard]] Index indexOf(const SymbolicInt& number) const;
    [[nodiscard]] NotRaised unexpected(std::string_view parameter) const;
    [[nodiscard]] const TensorType& typeOf(std::size_t result) const;

    const Program& graph_;
    Builder& builder_;
    const Node* node_ = nullptr;
    std::map<std::string, Tensor> values_;
    std::map<std::string, Index> integers_;
};

/// The max cost of an element that several passes compute again instead of writing it once.
constexpr std::size_t cheapToReread = 4;

/// The tensor as a factor of sums of products, which read each element often: in a buffer, unless
/// it is a view of one, and with halves as float.
[[nodiscard]] Tensor factorOf(Lowering& in, const Tensor& tensor);

/// 0, 1, ... for all axes of the tensor.
[[nodiscard]] std::vector<std::size_t> allAxes(const Tensor& tensor);
/// Unknown for a type without a counterpart: complex numbers and the like.
[[nodiscard]] ScalarKind scalarKindOf(ElementType type);
/// The type that sums and functions of values of this type are computed in: float for halves.
[[nodiscard]] ScalarKind computedIn(ScalarKind type);

/// The results of a node, by position; a result that is a list has a tensor for each element.
using Results = std::vector<Tensor>;
struct Rule {
    std::string_view target; ///< "aten.linear.default"
    Results (*lower)(Lowering&);
};

// The rules, a table for each kind of operator.
[[nodiscard]] std::span<const Rule> contractionRules();
[[nodiscard]] std::span<const Rule> convolutionRules();
[[nodiscard]] std::span<const Rule> creationRules();
[[nodiscard]] std::span<const Rule> elementwiseRules();
[[nodiscard]] std::span<const Rule> lossRules();
[[nodiscard]] std::span<const Rule> normalisationRules();
[[nodiscard]] std::span<const Rule> poolingRules();
[[nodiscard]] std::span<const Rule> reductionRules();
[[nodiscard]] std::span<const Rule> viewRules();

} // namespace kernelskill::engine::graph
