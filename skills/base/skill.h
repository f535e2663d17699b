/// An expert method as code: where it fits, and the rewrite.
#pragma once

#include "analysis/features/features.h"
#include "analysis/model/kernel_model.h"
#include "analysis/queries/shared_analysis.h"
#include "analysis/source/error.h"
#include "analysis/source/text_edit.h"
#include "skills/base/accuracy.h"
#include "skills/base/compiled_kernel.h"
#include "skills/base/cursor.h"
#include "skills/base/held_values.h"
#include "skills/base/skill_folder.h"

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

enum class SkillKind : std::uint8_t { Source, Launch, Library };

/// The part that a skill's edit plays in advice.
enum class SkillRole : std::uint8_t {
    Answer,  ///< It answers the bottlenecks that the skill names.
    Hygiene, ///< Good practice that seldom changes the time: never advised as an answer.
};

/// The front matter of SKILL.md. Spellings in YAML and JSON: see skills/skill_document.h.
struct SkillMetadata {
    std::string id;    ///< "shared-memory-padding", also the folder's name
    std::string title; ///< "Pad shared memory against bank conflicts"
    SkillKind kind = SkillKind::Source;
    SkillRole role = SkillRole::Answer;
    Numerics numerics = Numerics::Exact;
    /// The error of its edits; nullopt: that by default.
    std::optional<StatedError> error;
    std::vector<std::string>
        bottlenecks;               ///< The kinds that it answers, spelled as in thresholds.yaml.
    std::vector<std::string> when; ///< Gates in prose, one a line; enforced by prepare().
    std::string expectedGain;      ///< In prose, with its source.
    std::vector<std::string> failureModes;
    std::vector<std::string> sources;
    std::string method;      ///< The prose below the front matter, Markdown.
    std::string description; ///< Its effect and when to use it, for choosing a skill.
    SkillOrigin origin = SkillOrigin::BuiltIn;
    std::string file; ///< Path of the document.
};

class Skill;

/// The kernel and the cursor that prepare() looks at. References live as long as the call. Copies
/// share what was worked out about the kernel, so a context and its copies are for one thread.
struct SkillContext {
    SkillContext(const analysis::FileModel& fileModel, const analysis::KernelModel& kernelModel,
                 const analysis::Features& kernelFeatures, analysis::Span cursor,
                 const CompiledKernel* compiledKernel = nullptr);

    /// The same kernel with the cursor elsewhere. Nothing was asked about that cursor yet.
    [[nodiscard]] SkillContext at(analysis::Span elsewhere) const {
        SkillContext moved = *this;
        moved.cursor_ = std::make_shared<const Cursor>(elsewhere);
        return moved;
    }
    /// A device function of the file with the same cursor; the compiler says nothing about it.
    [[nodiscard]] SkillContext in(const analysis::KernelModel& function) const;
    /// The cursor or selection, in the main file. Copies share what was asked about it.
    [[nodiscard]] const Cursor& cursor() const { return *cursor_; }
    /// Whether the cursor is at `place`, which is in the kernel, and not a selection of the whole
    /// kernel.
    [[nodiscard]] bool isCursorAt(analysis::Span place) const {
        return cursor_->touches(place) && !cursor_->holds(kernel.bodySpan);
    }
    [[nodiscard]] const analysis::SharedAnalysis& shared() const { return *shared_; }
    /// The map of the kernel's body.
    [[nodiscard]] const analysis::CodeMap& code() const { return shared_->code(); }
    /// The value that `make` makes when it is first asked for at this cursor and with what the
    /// compiler said. It belongs to `skill`; null: every skill has the same, wherever the cursor
    /// is. The reference is valid as long as a copy of this context.
    template <typename Value, typename Make>
    const Value& held(const Skill* skill, const Make& make) const {
        return held_->value<Value>(skill, *cursor_, skill == nullptr ? nullptr : compiled, make);
    }

    const analysis::FileModel& file;
    const analysis::KernelModel& kernel;
    const analysis::Features& features;
    /// Null: the kernel has not been compiled yet, or there is no CUDA toolkit.
    const CompiledKernel* compiled = nullptr;

private:
    std::shared_ptr<const Cursor> cursor_;
    std::shared_ptr<const analysis::SharedAnalysis> shared_;
    std::shared_ptr<HeldValues> held_;
};

/// The gain that an edit may bring, worked out from the code that it is offered on.
struct ExpectedGain {
    double factor = 1; ///< Times faster at most; above 1.
    std::string basis; ///< The reason for the factor, as a clause.
};

/// A skill that fits at a place. A value: kept in the code action's data, applied later.
struct Offer {
    std::string skillId;
    std::string kernelName; ///< Qualified.
    analysis::Span anchor;  ///< The loop, array, access or kernel it is about.
    std::string title; ///< For the menu; may say more than the skill's own, e.g. name the array.
    std::string
        why;        ///< The fact in the code that lets it fit, one sentence with names and numbers.
    int option = 0; ///< The number of the skill's own option, see skills/base/planned_skill.h.
    /// The effect of this edit on results, where it differs from the skill's own (metadata) value:
    /// unrolling is exact, its separate accumulators reassociate. nullopt: as the metadata says.
    std::optional<Numerics> numerics;
    /// The error that this edit states. nullopt: as the metadata says if `numerics` does not differ
    /// from it either, else that by default.
    std::optional<StatedError> error;
    /// nullopt: the text does not tell; the metadata's prose is all that is known.
    std::optional<ExpectedGain> gain;
    /// The role of this edit, where it differs from the skill's own. nullopt: as the metadata says.
    std::optional<SkillRole> role;
    /// The anchor in the kernel's plain form (engine/findings/plain_form.h), which the edit is made
    /// for. nullopt: it is made for the text itself.
    std::optional<analysis::Span> plainAnchor;
};

/// What `offer` promises, made by the skill of `metadata`.
[[nodiscard]] Accuracy accuracyOf(const Offer& offer, const SkillMetadata& metadata);

/// Why a skill is not offered: the first gate that did not hold. Shown to those who ask.
struct Refusal {
    std::string gate;   ///< Short and stable, e.g. "has-barrier-in-loop".
    std::string reason; ///< One sentence with names and lines.
};

/// A value, or the gate that did not hold.
template <typename T>
using Gated = std::expected<T, Refusal>;

class Skill {
public:
    virtual ~Skill() = default;
    [[nodiscard]] virtual std::string_view id() const = 0;
    /// Pure and cheap (well under a millisecond): runs on each cursor move.
    [[nodiscard]] virtual Gated<Offer> prepare(const SkillContext& context) const = 0;
    /// Offers at the same place that differ from prepare()'s in their option, e.g. other block
    /// sizes: for a search that tries them all. As cheap. Where prepare() refuses only because
    /// nothing in the text promises a gain, there may be some all the same.
    [[nodiscard]] virtual std::vector<Offer> alternatives(const SkillContext&) const { return {}; }
    /// The edits, launch sites included, against the same file model. May be slow. Unsupported with
    /// the reason when the rewrite turns out to be impossible. Follows from the text and the offer
    /// alone: `context.compiled` is null, and what prepare() chose by it is in the offer.
    [[nodiscard]] virtual Result<analysis::EditSet> apply(const SkillContext& context,
                                                          const Offer& offer) const = 0;
};

} // namespace kernelskill::skills
