/// An expert method as code: where it fits, and the rewrite.
#pragma once

#include "analysis/features/features.h"
#include "analysis/model/kernel_model.h"
#include "analysis/source/error.h"
#include "analysis/source/text_edit.h"
#include "skills/compiled_kernel.h"
#include "skills/skill_folder.h"

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

enum class SkillKind : std::uint8_t { Source, Launch, Library };
enum class Numerics : std::uint8_t { Exact, Reassociates, ReducedPrecision };

/// The front matter of SKILL.md. Spellings in YAML and JSON: see skills/skill_document.h.
struct SkillMetadata {
    std::string id;    ///< "shared-memory-padding", also the folder's name
    std::string title; ///< "Pad shared memory against bank conflicts"
    SkillKind kind = SkillKind::Source;
    Numerics numerics = Numerics::Exact;
    std::vector<std::string>
        bottlenecks;               ///< The kinds that it answers, spelled as in thresholds.yaml.
    std::vector<std::string> when; ///< Gates in prose, one a line; enforced by prepare().
    std::string expectedGain;      ///< In prose, with its source.
    std::vector<std::string> failureModes;
    std::vector<std::string> sources;
    std::string method;      ///< The prose below the front matter, Markdown.
    std::string description; ///< What it does and when to use it, for whoever chooses by that.
    SkillOrigin origin = SkillOrigin::BuiltIn;
    std::string file; ///< Path of the document.
};

class SharedAnalysis; // skills/rewriting/shared_analysis.h

/// What prepare() looks at. References live as long as the call. Copies share what was worked out
/// about the kernel, so a context and its copies are for one thread.
struct SkillContext {
    SkillContext(const analysis::FileModel& fileModel, const analysis::KernelModel& kernelModel,
                 const analysis::Features& kernelFeatures, analysis::Span cursor,
                 const CompiledKernel* compiledKernel = nullptr);

    /// The same kernel with the cursor elsewhere.
    [[nodiscard]] SkillContext at(analysis::Span elsewhere) const {
        SkillContext moved = *this;
        moved.range = elsewhere;
        return moved;
    }
    [[nodiscard]] const SharedAnalysis& shared() const { return *shared_; }

    const analysis::FileModel& file;
    const analysis::KernelModel& kernel;
    const analysis::Features& features;
    analysis::Span range; ///< The cursor or selection, in the main file.
    /// Null: nobody has compiled the kernel yet, or there is no CUDA toolkit.
    const CompiledKernel* compiled = nullptr;

private:
    std::shared_ptr<const SharedAnalysis> shared_;
};

/// What an edit may bring, worked out from the code that it is offered on.
struct ExpectedGain {
    double factor = 1; ///< Times faster at most; above 1.
    std::string basis; ///< What that follows from, as a clause.
};

/// A skill that fits at a place. A value: kept in the code action's data, applied later.
struct Offer {
    std::string skillId;
    std::string kernelName; ///< Qualified.
    analysis::Span anchor;  ///< The loop, array, access or kernel it is about.
    std::string title; ///< For the menu; may say more than the skill's own, e.g. name the array.
    std::string
        why;        ///< The fact in the code that lets it fit, one sentence with names and numbers.
    int option = 0; ///< Meaning is the skill's, e.g. an unroll factor.
    /// What this edit does to results, where it differs from the skill's own (metadata) value:
    /// unrolling is exact, its separate accumulators reassociate. nullopt: as the metadata says.
    std::optional<Numerics> numerics;
    /// nullopt: the text does not tell; the metadata's prose is all that is known.
    std::optional<ExpectedGain> gain;
};

/// Why a skill is not offered: the first gate that did not hold. Shown to those who ask.
struct Refusal {
    std::string gate;   ///< Short and stable, e.g. "has-barrier-in-loop".
    std::string reason; ///< One sentence with names and lines.
};

class Skill {
public:
    virtual ~Skill() = default;
    [[nodiscard]] virtual std::string_view id() const = 0;
    /// Pure and cheap (well under a millisecond): runs on each cursor move.
    [[nodiscard]] virtual std::expected<Offer, Refusal>
    prepare(const SkillContext& context) const = 0;
    /// Offers at the same place that differ from prepare()'s in their option, e.g. other block
    /// sizes: for a search that tries them all. As cheap; empty where prepare() refuses.
    [[nodiscard]] virtual std::vector<Offer> alternatives(const SkillContext&) const { return {}; }
    /// The edits, launch sites included, against the same file model. May be slow. Unsupported with
    /// the reason when the rewrite turns out to be impossible. Follows from the text and the offer
    /// alone: `context.compiled` is null, and what prepare() chose by it is in the offer.
    [[nodiscard]] virtual Result<analysis::EditSet> apply(const SkillContext& context,
                                                          const Offer& offer) const = 0;
};

} // namespace kernelskill::skills
