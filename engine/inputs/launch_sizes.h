/// The same launch at other problem sizes.
#pragma once

#include "engine/inputs/launch_candidates.h"
#include "engine/inputs/size_relations.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace kernelskill::engine {

struct ResizedLaunch {
    LaunchSpec launch;
    std::map<std::string, std::int64_t>
        extents; ///< The variables that were changed, with their new values.
};

/// Where the sizes of a launch come from.
enum class SizeSource : std::uint8_t {
    Text,          ///< Variables that the host's code computes the launch from.
    TextOrNumbers, ///< Where there are none, what the launch's own numbers suggest.
    Numbers,       ///< The numbers alone, as for a launch that is paired with such a one.
};

/// The sizes that a launch can have. Reads the file once for all of them.
class LaunchSizes {
public:
    /// Values of variables that act as extents.
    using Extents = std::map<std::string, std::int64_t>;

    LaunchSizes(const analysis::FileModel& file, const analysis::KernelModel& kernel,
                LaunchSpec launch, SizeSource source = SizeSource::Text);
    /// `text` is of `file`.
    LaunchSizes(std::shared_ptr<const LaunchSource> text, const analysis::FileModel& file,
                const analysis::KernelModel& kernel, LaunchSpec launch,
                SizeSource source = SizeSource::Text);

    /// The extents of the launch; empty if none can be changed.
    [[nodiscard]] const Extents& extents() const { return extents_; }
    /// The relations between the launch's numbers that the extents come from; null where they come
    /// from the text.
    [[nodiscard]] const SizeRelations* relations() const {
        return relations_ ? &*relations_ : nullptr;
    }
    /// Whether the kernel compares its positions with extents. Otherwise it may rely on full
    /// blocks.
    [[nodiscard]] bool isGuarded() const { return launches_.hasBounds(); }

    /// Whether the grid has a block for each of an extent, so that no thread lies beyond it.
    [[nodiscard]] bool hasBlockForEach() const;

    /// See resizeLaunch().
    [[nodiscard]] std::optional<ResizedLaunch> scaledBy(double scale, bool odd) const;
    /// With these extents, or slightly others where the grid would leave out a rest; an odd number
    /// of blocks then where `odd`. nullopt where that gives no other valid launch, or changes the
    /// block.
    [[nodiscard]] std::optional<ResizedLaunch> with(const Extents& wanted, bool odd) const;
    /// With exactly these extents.
    [[nodiscard]] std::optional<LaunchSpec> at(const Extents& extents) const;

private:
    /// Whether the launch changes with any of the extents: literals do not.
    [[nodiscard]] bool followsExtents() const;
    /// With these extents; nullopt where that changes nothing, or the block.
    [[nodiscard]] std::optional<LaunchSpec> changed(const Extents& extents) const;
    [[nodiscard]] std::optional<LaunchSpec> withoutRest(LaunchSpec resized, Extents& extents) const;

    LaunchCandidates launches_;
    LaunchSpec launch_;
    Extents extents_;
    std::optional<SizeRelations> relations_; ///< Set if the extents come from it.
};

/// The same launch at another problem size: integral scalars that act as extents become about
/// `scale` times as large (odd sizes when `odd`), grid recomputed by the launch site's own
/// expression. Where the grid leaves out a rest that is no whole block, as n / 256 does, the extent
/// is one without a rest. nullopt when the launch cannot be resized without breaking what the
/// kernel assumes.
[[nodiscard]] std::optional<ResizedLaunch> resizeLaunch(const analysis::FileModel& file,
                                                        const analysis::KernelModel& kernel,
                                                        const LaunchSpec& launch, double scale,
                                                        bool odd);

/// The same launch with other values of variables that act as extents.
[[nodiscard]] std::optional<LaunchSpec>
launchAt(const analysis::FileModel& file, const analysis::KernelModel& kernel,
         const LaunchSpec& launch, const std::map<std::string, std::int64_t>& extents);

} // namespace kernelskill::engine
