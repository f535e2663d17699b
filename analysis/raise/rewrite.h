/// Rewrites scalars as graphs: equal parts are one node, and a part that stands in several places
/// is rewritten once.
#pragma once

#include "analysis/raise/program.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace kernelskill::analysis::raise {

/// Makes equal scalars one node, so that they can be compared by their pointers.
class Interner {
public:
    [[nodiscard]] Scalar operator()(const Scalar& value);
    /// All values of the computation.
    void intern(Computation& computation);
    void intern(Program& program);

private:
    struct Known {
        Scalar original; ///< Held, so that no other node gets its address.
        Scalar result;
    };
    std::unordered_map<const ScalarNode*, Known> known_;
    std::map<std::string, Scalar> nodes_;
};

/// Other nodes for some nodes, by their addresses.
using NodeReplacements = std::unordered_map<const ScalarNode*, Scalar>;
[[nodiscard]] Scalar withNodes(const Scalar& value, const NodeReplacements& replacements);
/// Another index for each; loads within integers that are read are left as they are.
using IndexRewrite = std::function<Index(const Index&)>;
[[nodiscard]] Scalar withIndices(const Scalar& value, const IndexRewrite& rewrite);
/// Replaces axes by indices, and joins quotients and remainders that come together then.
[[nodiscard]] Scalar relocated(const Scalar& value, const std::map<std::uint32_t, Index>& axes);
[[nodiscard]] std::vector<Index> relocated(const std::vector<Index>& position,
                                           const std::map<std::uint32_t, Index>& axes);

/// The elements of the reductions, then the values of the stores.
[[nodiscard]] std::vector<Scalar> rootsOf(const Computation& computation);
/// Another value for each of them.
void rewriteRoots(Computation& computation, const std::function<Scalar(const Scalar&)>& rewrite);
/// The nodes of the values, each once, arguments before what has them.
[[nodiscard]] std::vector<Scalar> nodesOf(const std::vector<Scalar>& roots);

/// The nodes that each path from a root to `target` passes, from `target` outwards.
[[nodiscard]] std::vector<Scalar> dominatorsOf(const std::vector<Scalar>& roots,
                                               const Scalar& target);

/// The one position at which the computation loads the buffer; nullopt if there are several, or
/// none.
[[nodiscard]] std::optional<std::vector<Index>> positionRead(const Computation& computation,
                                                             BufferId buffer);

/// Whether the value is a call of the function.
[[nodiscard]] bool isCall(const Scalar& value, Function function);

/// `axes` as indices.
[[nodiscard]] std::vector<Index> indicesOf(const std::vector<Axis>& axes);
/// New axes with the given extents.
[[nodiscard]] std::vector<Axis> newAxes(Program& program, const std::vector<Index>& extents,
                                        const std::string& prefix);
[[nodiscard]] bool samePosition(const std::vector<Index>& left, const std::vector<Index>& right);

} // namespace kernelskill::analysis::raise
