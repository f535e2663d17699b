#include "skills/stream-overlap/chunk_slices.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/host_statements.h"
#include "analysis/queries/kernel_footprint.h"
#include "analysis/queries/kernel_reach.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/stream-overlap/host_pointers.h"
#include "skills/stream-overlap/round_values.h"

#include <spdlog/fmt/fmt.h>

#include <map>
#include <optional>
#include <set>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// One pointer of a launch or a copy.
struct Use {
    ExprId pointer = noId;
    VariableId root = noId;
    bool isWritten = false;
    const LaunchSite* launch = nullptr; ///< Null: of a copy, of `bytes`.
    std::size_t parameter = 0;          ///< The index of the parameter of the launched kernel.
    ExprId bytes = noId;
    Span span;
};

struct Slice {
    std::int64_t round = 0;
    bool isWritten = false;
    ByteRange bytes;
    Span span;
};

class SliceProof {
public:
    SliceProof(const SkillContext& context, const ChunkLoop& loop)
        : context_(context), loop_(loop), code_(context.shared().host(loop.host)),
          pointers_(code_) {}

    Gated<ChunkTraffic> prove() {
        KERNELSKILL_CHECK(readCopies());
        KERNELSKILL_CHECK(readLaunches());
        KERNELSKILL_CHECK(requireRoots());
        for (std::int64_t round = 0; round < loop_.rounds; ++round)
            KERNELSKILL_CHECK(takeRound(round));
        for (const auto& [root, slices] : slices_)
            if (written_.contains(root))
                KERNELSKILL_CHECK(requireApart(root, slices));
        KERNELSKILL_CHECK(requireDifferentRoots());
        return traffic_;
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }
    [[nodiscard]] const std::string& nameOf(VariableId id) const {
        return code_.body().variable(id).name;
    }

    Gated<void> readCopies() {
        for (const AsyncCopy& copy : loop_.copies) {
            const Span span = code_.body().expr(copy.call).span;
            if (copy.direction == AsyncCopy::Direction::Unknown)
                return refuse("copy-direction",
                              fmt::format("whether the copy on line {} is to or from the GPU is "
                                          "not told",
                                          line(span)));
            uses_.push_back({copy.to, noId, true, nullptr, 0, copy.bytes, span});
            if (copy.from != noId)
                uses_.push_back({copy.from, noId, false, nullptr, 0, copy.bytes, span});
            const ExprId host = copy.direction == AsyncCopy::Direction::ToDevice ? copy.from
                                : copy.direction == AsyncCopy::Direction::ToHost ? copy.to
                                                                                 : noId;
            if (host == noId)
                continue;
            const auto place = RoundValues(code_, loop_.counter, loop_.first).place(host);
            if (!place || pointers_.originOf(place->root) != PointerOrigin::Pinned)
                return refuse("not-pinned",
                              fmt::format("the memory of the host on line {} is not seen to come "
                                          "from cudaMallocHost or cudaHostAlloc in this function: "
                                          "copies of pageable memory run beside nothing",
                                          line(span)));
        }
        return {};
    }

    Gated<void> readLaunches() {
        for (const LaunchSite* launch : loop_.launches) {
            const KernelModel& kernel = *kernelOf(context_.file, *launch);
            const KernelFootprint footprint = footprintOf(context_.file, kernel);
            if (!footprint.unknown.empty())
                return refuse("unknown-memory", footprint.unknown);
            for (std::size_t i = 0; i < footprint.parameters.size(); ++i) {
                const PointerUse& use = footprint.parameters[i];
                if (!use.isRead && !use.isWritten)
                    continue;
                if (i >= launch->arguments.size())
                    return refuse("unknown-memory",
                                  "a kernel has a pointer as its default argument");
                uses_.push_back(
                    {launch->arguments[i], noId, use.isWritten, launch, i, noId, launch->span});
            }
            reaches_.try_emplace(&kernel, kernel);
        }
        return {};
    }

    /// Which variable each pointer leads through; the same in each round.
    Gated<void> requireRoots() {
        const RoundValues values(code_, loop_.counter, loop_.first);
        for (Use& use : uses_) {
            const auto place = values.place(use.pointer);
            if (!place)
                return sliceUnknown(use);
            use.root = place->root;
            if (use.isWritten)
                written_.insert(use.root);
        }
        return {};
    }

    [[nodiscard]] std::unexpected<Refusal> sliceUnknown(const Use& use) const {
        return refuse("slice-unknown",
                      fmt::format("which part of {} line {} touches in a round is not known from "
                                  "numbers in the text",
                                  context_.file.source->slice(code_.body().expr(use.pointer).span),
                                  line(use.span)));
    }

    Gated<void> takeRound(std::int64_t round) {
        const RoundValues values(code_, loop_.counter, loop_.valueIn(round));
        for (const Use& use : uses_) {
            const auto place = values.place(use.pointer);
            std::optional<ByteRange> bytes;
            if (use.launch == nullptr) {
                if (const auto count = values.value(use.bytes))
                    bytes = firstBytes(*count);
            } else if (const auto numbers = values.launch(*use.launch)) {
                bytes =
                    reaches_.at(kernelOf(context_.file, *use.launch)).of(use.parameter, *numbers);
            }
            const bool isShared = written_.contains(use.root);
            if (!place || (isShared && (!bytes || place->root != use.root)))
                return sliceUnknown(use);
            if (!bytes)
                continue;
            count(use, *bytes);
            if (isShared)
                slices_[use.root].push_back(
                    {round, use.isWritten, movedBy(*bytes, place->offset), use.span});
        }
        return {};
    }

    void count(const Use& use, const ByteRange& bytes) {
        const double share =
            static_cast<double>(bytes.end - bytes.begin) / static_cast<double>(loop_.rounds);
        const bool isPinned = pointers_.originOf(use.root) == PointerOrigin::Pinned;
        if (!isPinned)
            traffic_.bytesOnDevice += use.launch == nullptr ? 0 : share;
        else
            (use.isWritten ? traffic_.bytesToHost : traffic_.bytesToDevice) += share;
    }

    [[nodiscard]] Gated<void> requireApart(VariableId root,
                                           const std::vector<Slice>& slices) const {
        for (std::size_t i = 0; i < slices.size(); ++i)
            for (std::size_t j = i + 1; j < slices.size(); ++j) {
                const Slice& a = slices[i];
                const Slice& b = slices[j];
                if (a.round != b.round && (a.isWritten || b.isWritten) &&
                    !areApart(a.bytes, b.bytes))
                    return refuse("rounds-overlap",
                                  fmt::format("what line {} touches of {} in a round, line {} "
                                              "touches in another one",
                                              line(a.span), nameOf(root), line(b.span)));
            }
        return {};
    }

    [[nodiscard]] Gated<void> requireDifferentRoots() const {
        for (const VariableId root : written_)
            for (const Use& use : uses_)
                if (use.root != root && !pointers_.areApart(root, use.root))
                    return refuse("may-alias",
                                  fmt::format("{} and {} may be the same memory: they are neither "
                                              "allocations of this function nor __restrict__ "
                                              "parameters of it",
                                              nameOf(root), nameOf(use.root)));
        return {};
    }

    const SkillContext& context_;
    const ChunkLoop& loop_;
    const CodeMap& code_;
    HostPointers pointers_;
    std::vector<Use> uses_;
    std::set<VariableId> written_; ///< Roots.
    std::map<const KernelModel*, KernelReach> reaches_;
    std::map<VariableId, std::vector<Slice>> slices_; ///< By root, of those that are written.
    ChunkTraffic traffic_;
};

} // namespace

Gated<ChunkTraffic> requireSlices(const SkillContext& context, const ChunkLoop& loop) {
    return SliceProof(context, loop).prove();
}

} // namespace kernelskill::skills
