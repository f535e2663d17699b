#include "skills/stream-overlap/stream-overlap.h"

#include "skills/rewriting/gates.h"
#include "skills/rewriting/host_launches.h"
#include "skills/rewriting/source_layout.h"
#include "skills/stream-overlap/launch_load.h"
#include "skills/stream-overlap/overlap_plan.h"

#include <spdlog/fmt/fmt.h>

#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::string_view skillId = "stream-overlap";

/// The first launch stays where it is; each other one gets a stream, which waits for what was in
/// the old one before, and which the old one waits for afterwards.
class OverlapEdits {
public:
    OverlapEdits(const SkillContext& context, const OverlapPlan& plan)
        : plan_(plan), source_(*context.file.source), host_(context.file.hostFunctions[plan.host]),
          body_(host_.body), layout_(source_, context.kernel), check_(errorCheckOf(source_, host_)),
          stream_(plan.stream == noId ? "0" : textOf(plan.stream)),
          forked_(freshName(body_, "forked")), joined_(freshName(body_, "joined")) {
        for (std::size_t i = 1; i < plan.launches.size(); ++i)
            beside_.push_back(freshName(
                body_, plan.launches.size() == 2 ? "beside" : fmt::format("beside{}", i)));
    }

    [[nodiscard]] std::vector<TextEdit> edits() const {
        std::vector<TextEdit> edits;
        const bool isInLoop = plan_.loop != noId;
        const Span first = body_.stmt(plan_.statements.front()).span;
        const Span last = body_.stmt(plan_.statements.back()).span;
        const Span home = isInLoop ? body_.stmt(plan_.loop).span : first;
        const Span end = isInLoop ? home : last;
        if (isInLoop) {
            edits.push_back(before(home, made(layout_.indentation(home.begin))));
            edits.push_back(before(first, fork(layout_.indentation(first.begin))));
            edits.push_back(after(last, join(layout_.indentation(last.begin))));
            edits.push_back(after(end, destroyed(layout_.indentation(end.begin))));
        } else {
            const std::string indentation = layout_.indentation(first.begin);
            edits.push_back(before(first, made(indentation) + fork(indentation)));
            edits.push_back(after(last, join(indentation) + destroyed(indentation)));
        }
        for (std::size_t i = 1; i < plan_.launches.size(); ++i)
            edits.push_back(inStream(body_, *plan_.launches[i], beside_[i - 1]));
        return edits;
    }

private:
    [[nodiscard]] std::string textOf(ExprId id) const {
        return std::string(source_.slice(body_.expr(id).span));
    }

    [[nodiscard]] std::string call(const std::string& text) const {
        return check_.empty() ? text + ";" : fmt::format("{}({});", check_, text);
    }

    /// Whole lines before the line of `span`, or after it.
    [[nodiscard]] TextEdit before(Span span, std::string lines) const {
        const std::uint32_t at = layout_.lineBegin(span.begin);
        return {{at, at}, std::move(lines)};
    }
    [[nodiscard]] TextEdit after(Span span, std::string lines) const {
        const std::uint32_t at = layout_.endOfLineTrivia(span.end);
        lines.resize(lines.size() - layout_.newline().size());
        return {{at, at}, layout_.newline() + lines};
    }

    [[nodiscard]] std::string made(const std::string& indentation) const {
        CodeLines lines(layout_, indentation);
        lines.add(fmt::format("// {} launches run side by side: none writes what another one "
                              "touches.",
                              plan_.launches.size()));
        for (const std::string& stream : beside_)
            lines.add(fmt::format("cudaStream_t {};", stream))
                .add(call(
                    fmt::format("cudaStreamCreateWithFlags(&{}, cudaStreamNonBlocking)", stream)));
        for (const std::string& event : {forked_, joined_})
            lines.add(fmt::format("cudaEvent_t {};", event))
                .add(call(
                    fmt::format("cudaEventCreateWithFlags(&{}, cudaEventDisableTiming)", event)));
        return lines.text();
    }

    [[nodiscard]] std::string fork(const std::string& indentation) const {
        CodeLines lines(layout_, indentation);
        lines.add(call(fmt::format("cudaEventRecord({}, {})", forked_, stream_)));
        for (const std::string& stream : beside_)
            lines.add(call(fmt::format("cudaStreamWaitEvent({}, {}, 0)", stream, forked_)));
        return lines.text();
    }

    [[nodiscard]] std::string join(const std::string& indentation) const {
        CodeLines lines(layout_, indentation);
        for (const std::string& stream : beside_)
            lines.add(call(fmt::format("cudaEventRecord({}, {})", joined_, stream)))
                .add(call(fmt::format("cudaStreamWaitEvent({}, {}, 0)", stream_, joined_)));
        return lines.text();
    }

    [[nodiscard]] std::string destroyed(const std::string& indentation) const {
        CodeLines lines(layout_, indentation);
        for (const std::string& event : {forked_, joined_})
            lines.add(call(fmt::format("cudaEventDestroy({})", event)));
        for (const std::string& stream : beside_)
            lines.add(call(fmt::format("cudaStreamDestroy({})", stream)));
        return lines.text();
    }

    const OverlapPlan& plan_;
    const SourceText& source_;
    const HostFunction& host_;
    const FunctionBody& body_;
    SourceLayout layout_;
    std::string check_;
    std::string stream_;
    std::string forked_;
    std::string joined_;
    std::vector<std::string> beside_; ///< Streams, of all launches but the first.
};

class StreamOverlap final : public Skill {
public:
    [[nodiscard]] std::string_view id() const override { return skillId; }

    [[nodiscard]] std::expected<Offer, Refusal>
    prepare(const SkillContext& context) const override {
        const auto plan = planOverlap(context);
        if (!plan)
            return std::unexpected(plan.error());
        const std::uint32_t first = lineNumber(context, plan->launches.front()->span.begin);
        const std::uint32_t last = lineNumber(context, plan->launches.back()->span.begin);
        Offer offer;
        offer.skillId = skillId;
        offer.kernelName = context.kernel.qualifiedName;
        offer.anchor = context.kernel.nameSpan;
        offer.title = fmt::format("Run the {} launches on lines {} to {} side by side",
                                  plan->launches.size(), first, last);
        offer.why =
            fmt::format("the {} launches on lines {} to {} share nothing that one of them "
                        "writes, and take {:.0f} % of the room of {} multiprocessors "
                        "together",
                        plan->launches.size(), first, last, plan->share * 100, multiprocessors);
        offer.numerics = Numerics::Exact;
        offer.gain = ExpectedGain{plan->gain, "the time of the launches one after the other over "
                                              "that of the longest, or of the full GPU"};
        return offer;
    }

    [[nodiscard]] Result<EditSet> apply(const SkillContext& context, const Offer&) const override {
        const auto plan = planOverlap(context);
        if (!plan)
            return std::unexpected(unsupported(context, plan.error()));
        return EditSet{{context.kernel.file, OverlapEdits(context, *plan).edits()}};
    }
};

} // namespace

std::unique_ptr<Skill> makeStreamOverlap() {
    return std::make_unique<StreamOverlap>();
}

} // namespace kernelskill::skills
