/// Loops whose rounds the lanes of a warp can share.
#pragma once

#include "analysis/queries/source_layout.h"
#include "analysis/source/gpu_constants.h"
#include "skills/base/skill.h"
#include "skills/schedule/extreme_fold.h"
#include "skills/schedule/kept_element.h"
#include "skills/schedule/lane_fold.h"
#include "skills/schedule/lane_scan.h"
#include "skills/schedule/ranked_fold.h"
#include "skills/schedule/welford_fold.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

/// A loop along the row, whose rounds the lanes share.
struct LaneLoop {
    analysis::NestNodeId node = analysis::noId;
    analysis::StmtId statement = analysis::noId;
    std::uint32_t loop = analysis::noId; ///< Index into KernelModel::loops.
    std::vector<LaneFold> folds;
    std::vector<ExtremeFold> extremes;
    std::vector<RankedFold> ranks;
    std::vector<WelfordFold> welfords;
    std::optional<LaneScan> scan; ///< The running value, if it has one.
    /// It needs a barrier before it: code outside of shared loops uses the same memory, and one of
    /// the two stores.
    bool syncsBefore = false;
    /// It needs a barrier behind it: code that runs later uses the same memory, and one of the two
    /// stores.
    bool syncsAfter = false;
};

/// Whether the rounds fold into any value.
[[nodiscard]] inline bool folds(const LaneLoop& loop) {
    return !loop.folds.empty() || !loop.extremes.empty() || !loop.ranks.empty() ||
           !loop.welfords.empty();
}

/// Whether the loop folds into the variable together with another one: an extreme with its place,
/// one of the best few, or a running mean.
[[nodiscard]] bool isOfJoinedFold(const LaneLoop& loop, analysis::VariableId variable);

/// Whether a loop may store a running value, for which lanes scan.
enum class LoopScans : std::uint8_t { Refused, Allowed };

/// Reads loops of one kernel. Keeps references to the context's models.
class LaneLoopReader {
public:
    /// `scans` says whether a loop may have a running value. A loop whose number of rounds is known
    /// needs `minRounds` of them.
    explicit LaneLoopReader(const SkillContext& context, LoopScans scans = LoopScans::Refused,
                            int minRounds = analysis::warpLanes);

    /// Reads the node, a loop of the kernel's own text. Refuses with `no-row-loop`, `short-rows`,
    /// `carries-over`, `running-variance`, `columns-overlap`, why an element that it folds into has
    /// to stay in memory, or why lanes cannot scan for its running value.
    [[nodiscard]] Gated<LaneLoop> read(analysis::NestNodeId id);
    /// Reads a loop of any form that threads share already: what its rounds fold into, and that
    /// they are independent otherwise. `loop` is its index into KernelModel::loops. Refuses as
    /// read() does for what rounds do.
    [[nodiscard]] Gated<LaneLoop> readShared(analysis::NestNodeId id, std::uint32_t loop);
    /// The elements that the loops read so far fold into. The name of such a fold is the text of
    /// its element.
    [[nodiscard]] const std::vector<KeptElement>& kept() const { return kept_; }

private:
    [[nodiscard]] std::uint32_t line(analysis::NestNodeId id) const;
    [[nodiscard]] Gated<void> readScan(analysis::NestNodeId id, LaneLoop& loop) const;
    [[nodiscard]] Gated<void> requireOwnIterator(const analysis::Loop& loop) const;
    [[nodiscard]] Gated<void> readRounds(analysis::NestNodeId id, LaneLoop& loop,
                                         analysis::VariableId counter);
    [[nodiscard]] Gated<void> readEffects(analysis::NestNodeId id, LaneLoop& loop);
    [[nodiscard]] Gated<void> requireApart(analysis::NestNodeId id,
                                           const analysis::NestAccess& store,
                                           std::int64_t step) const;
    [[nodiscard]] Gated<void> requireOwnPlace(analysis::NestNodeId id,
                                              const analysis::NestAccess& store) const;
    [[nodiscard]] Gated<void> readOwn(analysis::NestNodeId id, const analysis::NestAccess& access,
                                      LaneLoop& loop) const;
    [[nodiscard]] Gated<void> readVariables(LaneLoop& loop, analysis::VariableId counter) const;
    [[nodiscard]] Gated<void> addFold(analysis::NestNodeId id, const analysis::NestAccess& written,
                                      const std::string& name, LaneLoop& loop) const;
    [[nodiscard]] Gated<void> addKeptFold(analysis::NestNodeId id,
                                          const analysis::NestAccess& access, LaneLoop& loop);
    [[nodiscard]] bool startsNeutral(const LaneLoop& loop, const analysis::NestAccess& folded,
                                     std::string_view op) const;
    [[nodiscard]] bool isNeutralBefore(const LaneLoop& loop,
                                       const std::vector<analysis::ExprId>& uses,
                                       analysis::ExprId value, std::string_view op) const;
    [[nodiscard]] bool canFold(analysis::ScalarKind scalar, std::string_view type) const;
    [[nodiscard]] bool isObject(analysis::ExprId use) const;
    [[nodiscard]] bool isOfRounds(analysis::StmtId loop, analysis::VariableId variable) const;
    [[nodiscard]] bool isIterator(analysis::VariableId variable) const;
    [[nodiscard]] std::string foldOperator(analysis::StmtId loop,
                                           analysis::VariableId variable) const;
    [[nodiscard]] bool isStatementOfItsOwn(const analysis::NestAccess& access) const;

    const SkillContext& context_;
    LoopScans scans_;
    int minRounds_;
    const analysis::CodeMap& code_;
    const analysis::FunctionBody& body_;
    const analysis::Nest& nest_;
    analysis::SourceLayout layout_;
    std::vector<KeptElement> candidates_;
    std::optional<Refusal> refusal_; ///< Why there are no candidates.
    std::vector<KeptElement> kept_;
};

/// Returns the element that the access uses; nullptr if there is none.
[[nodiscard]] const KeptElement* keptWith(const std::vector<KeptElement>& elements,
                                          const analysis::NestAccess& access);

} // namespace kernelskill::skills
