#include "engine/inputs/probe.h"

#include "analysis/model/scalar_kinds.h"
#include "analysis/source/gpu_constants.h"
#include "engine/inputs/block_work.h"
#include "engine/inputs/class_numbers.h"
#include "engine/inputs/equal_pointers.h"
#include "engine/inputs/input_style.h"
#include "engine/inputs/launch_follower.h"
#include "engine/inputs/launch_pair.h"
#include "engine/inputs/launch_sizes.h"
#include "engine/inputs/other_blocks.h"
#include "engine/inputs/pointer_shift.h"
#include "engine/inputs/scalar_values.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <utility>

namespace kernelskill::engine {
namespace {

using analysis::warpLanes;

/// Threads of a probe whose blocks all run.
constexpr double maxProbeThreads = 1 << 12;
/// Threads of a probe that changes something other than the size.
constexpr double smallThreads = 1 << 9;
/// Sizes of a launch with several extents multiply.
constexpr std::array<std::int64_t, 3> maxExtentByCount{1200, 100, 24};
constexpr std::size_t multiExtentProbes = 30;
/// The max number of sizes that come from the edit's constants.
constexpr std::size_t maxEditedSizes = 9;
constexpr std::array<std::int64_t, 2> longExtents{1031, 1026};
/// Fewer probes show too few values.
constexpr std::size_t minProbes = 14;
/// Blocks that run of the file's own launch, to see whether they do the same work.
constexpr std::uint64_t sampledBlocks = 12;
/// A launch far beyond the emulator's size.
struct Distance {
    double threads;
    std::int64_t maxOther; ///< Of the extents that are not made large.
    std::uint64_t blocks;  ///< Of its grid, so many run.
    bool isPlain;          ///< Every element has a value of its own.
};
/// Past 16 bits, and past 32 bits of bytes: where narrow indices wrap around. The first is for
/// threads that each walk all of the data.
constexpr std::array<Distance, 4> distances{{
    {1 << 17, 257, 4, true},
    {1 << 20, 33, 12, false},
    {1 << 20, 33, 12, true},
    {5 << 28, 33, 12, true},
}};
/// Kernels count elements in int.
constexpr double maxDistantElements = 5 << 28;
/// The max where counters advance by the whole grid, so that the last step does not overflow.
constexpr double maxLoopedElements = 15 << 26;

std::string listed(const std::set<std::int64_t>& values) {
    std::string text;
    for (const std::int64_t value : values)
        text += fmt::format("{}{}", text.empty() ? "" : ", ", value);
    return text;
}

std::optional<LaunchFollower> neededFollower(KernelInFile original, KernelInFile candidate) {
    if (!LaunchFollower(original, candidate).isNeeded())
        return std::nullopt;
    return std::optional<LaunchFollower>(std::in_place, original, candidate);
}

class ProbePlanner {
public:
    ProbePlanner(KernelInFile original, KernelInFile candidate, const TrialPlan& plan,
                 skills::Numerics numerics, std::uint64_t seed)
        : original_(original), candidate_(candidate), statedOriginal_(plan.statedOriginal),
          stated_(plan.statedCandidate), follower_(neededFollower(original, candidate)),
          dictionary_(valueDictionary(original, candidate)), bounds_{numerics},
          sizes_(original.file, original.kernel, plan.statedOriginal, SizeSource::TextOrNumbers),
          candidateSizes_(candidate.file, candidate.kernel, plan.statedCandidate,
                          sizes_.relations() != nullptr ? SizeSource::Numbers
                                                        : SizeSource::TextOrNumbers),
          random_(seed), baseExtents_(sizes_.extents()), base_(smallest(plan)),
          whole_(plan.trials.front()) {
        shrinkBaseGrid();
    }

    ProbePlan plan() {
        addSizes();
        addScalars();
        addClassNumbers();
        addGrids();
        addBlocks();
        addCollisions();
        addLargeValues();
        addTinyValues();
        addValues();
        addEqualPointers();
        addShiftedBuffers();
        addDistantBlocks();
        return std::move(plan_);
    }

private:
    using Extents = LaunchSizes::Extents;

    void addSizes();
    void addScalars();
    void addClassNumbers();
    void addGrids();
    [[nodiscard]] bool hasUnequalShares(std::uint32_t Dim3::* axis) const;
    void addFewerBlocks();
    void addBlocks();
    void addCollisions();
    void addLargeValues();
    void addTinyValues();
    void addValues();
    void addEqualPointers();
    [[nodiscard]] std::optional<Trial> launchToShift() const;
    void addShiftedBuffers();
    void addDistantBlocks();
    void addDistant(const Distance& distance);

    [[nodiscard]] std::vector<std::int64_t> interestingSizes(std::int64_t most) const;
    [[nodiscard]] bool hasSameShape() const {
        return base_.original.grid == base_.candidate.grid &&
               base_.original.block == base_.candidate.block &&
               takesNumbersOf(base_.candidate, base_.original);
    }
    [[nodiscard]] bool hasBlocksOfOwnWork() const {
        return !followsGrid(original_.kernel) && !followsGrid(candidate_.kernel);
    }
    /// The candidate's launch at the size of `original`, which has these extents.
    [[nodiscard]] std::optional<LaunchSpec> candidateAt(const LaunchSpec& original,
                                                        const Extents& extents) const;
    /// The first trial, or the same launch with fewer threads.
    [[nodiscard]] Trial smallest(const TrialPlan& plan);
    /// Takes blocks from base_ if it is large and both kernels loop over the grid.
    void shrinkBaseGrid();
    /// Returns the extents of the probe that it adds: a grid may cover less than `extents`.
    std::optional<Extents> addSize(const Extents& extents);
    std::set<std::int64_t> addSingleSizes();
    void add(LaunchSpec original, LaunchSpec candidate);
    void add(LaunchSpec original, LaunchSpec candidate, InputStyle style);

    KernelInFile original_;
    KernelInFile candidate_;
    const LaunchSpec& statedOriginal_; ///< At the file's own size.
    const LaunchSpec& stated_;         ///< The candidate's.
    /// For launches that are guessed, or follow from numbers alone, where it is needed.
    std::optional<LaunchFollower> follower_;
    ValueDictionary dictionary_;
    StyleBounds bounds_;
    LaunchSizes sizes_;
    LaunchSizes candidateSizes_;
    std::mt19937_64 random_;
    Extents baseExtents_; ///< Of base_.
    Trial base_;          ///< For what changes something other than the size.
    const Trial& whole_;
    std::size_t styled_ = 0;
    std::map<InputStyle, std::size_t> turns_; ///< Launches of each style.
    ProbePlan plan_;
};

bool writesFloats(const LaunchSpec& launch) {
    return std::ranges::any_of(launch.arguments, [](const ArgumentSpec& argument) {
        const auto* buffer = std::get_if<BufferSpec>(&argument);
        return buffer != nullptr && buffer->isOutput && isFloatingScalar(buffer->element);
    });
}

/// `probe` with only some blocks of its grid.
Trial someBlocksOf(Trial probe, std::uint64_t blocks) {
    probe.maxBlocks = std::min(blocks, std::max<std::uint64_t>(probe.original.grid.count() / 2, 1));
    probe.label += fmt::format(", {} of {} blocks", *probe.maxBlocks, probe.original.grid.count());
    return probe;
}

void ProbePlanner::add(LaunchSpec original, LaunchSpec candidate) {
    // Constants are where most edits differ, so they come twice.
    constexpr std::array styles{InputStyle::Constants, InputStyle::Plain, InputStyle::Ties,
                                InputStyle::Constants, InputStyle::Extremes};
    add(std::move(original), std::move(candidate), styles.at(styled_++ % styles.size()));
}

void ProbePlanner::add(LaunchSpec original, LaunchSpec candidate, InputStyle style) {
    // Where the candidate is for other integers, its program launches another instance.
    if (!isMadeFor(candidate, original))
        return;
    Trial probe;
    probe.label = labelOf(original);
    if (style != InputStyle::Plain)
        probe.label += fmt::format(", {}", describe(style));
    bounds_.turn = turns_[style]++;
    probe.original = withStyle(std::move(original), style, dictionary_, bounds_, random_());
    probe.candidate = withArgumentsOf(std::move(candidate), probe.original);
    probe.isProbe = true;
    plan_.probes.push_back(std::move(probe));
}

/// `candidate` with as many threads, along each axis, in proportion to those of `original` as the
/// launches of the programs have: numbers alone do not tell which of two equal sizes a grid is for.
/// If both programs have a thread for each position, the candidate keeps one for each.
LaunchSpec inProportion(LaunchSpec candidate, const LaunchSpec& original,
                        const LaunchSpec& statedOriginal, const LaunchSpec& stated,
                        const SizeRelations& relations) {
    const auto dividedUp = [](std::uint64_t value, std::uint64_t by) {
        return (value + by - 1) / by;
    };
    constexpr std::array axes{&Dim3::x, &Dim3::y, &Dim3::z};
    for (std::size_t at = 0; at < axes.size(); ++at) {
        std::uint32_t Dim3::* const axis = axes.at(at);
        const auto threadsAlong = [&](const LaunchSpec& launch) {
            return std::uint64_t{launch.grid.*axis} * launch.block.*axis;
        };
        std::uint64_t threads =
            dividedUp(threadsAlong(original) * threadsAlong(stated), threadsAlong(statedOriginal));
        const auto positions = static_cast<std::uint64_t>(relations.positions(at, statedOriginal));
        if (positions > 0 && threadsAlong(stated) >= positions)
            threads =
                std::max(threads, static_cast<std::uint64_t>(relations.positions(at, original)));
        candidate.grid.*axis =
            static_cast<std::uint32_t>(dividedUp(threads, candidate.block.*axis));
    }
    return candidate;
}

std::optional<LaunchSpec> ProbePlanner::candidateAt(const LaunchSpec& original,
                                                    const Extents& extents) const {
    // Relations between the numbers of one launch do not tell what another passes.
    const bool isByNumbers =
        sizes_.relations() != nullptr || candidateSizes_.relations() != nullptr;
    const bool isKnown = !isByNumbers && original.origin != LaunchOrigin::Guessed;
    if (follower_ && !isKnown && isMadeFor(stated_, original))
        if (const auto followed = follower_->of(original))
            return withShapeOf(stated_, *followed);
    if (isByNumbers && !takesNumbersOf(stated_, original))
        return std::nullopt;
    auto other = candidateSizes_.at(extents);
    if (const SizeRelations* relations = sizes_.relations(); other && relations != nullptr)
        other = inProportion(*std::move(other), original, statedOriginal_, stated_, *relations);
    if (!other && original.origin != LaunchOrigin::Guessed)
        return std::nullopt;
    return paired(original, std::move(other).value_or(stated_),
                  !candidate_.kernel.launches.empty());
}

Trial ProbePlanner::smallest(const TrialPlan& plan) {
    const double ratio = smallThreads / threadsOf(plan.statedOriginal);
    // The extents of a launch over several axes share the ratio, and stay larger then.
    for (const double scale : {std::cbrt(ratio), std::sqrt(ratio), ratio}) {
        auto resized = ratio < 1 ? sizes_.scaledBy(scale, false) : std::nullopt;
        if (!resized || threadsOf(resized->launch) > 4 * smallThreads)
            continue;
        auto pair = candidateAt(resized->launch, resized->extents);
        if (!pair)
            continue;
        baseExtents_ = std::move(resized->extents);
        return {.label = {}, .original = std::move(resized->launch), .candidate = std::move(*pair)};
    }
    return plan.trials.front();
}

void ProbePlanner::shrinkBaseGrid() {
    const Dim3& grid = base_.original.grid;
    const auto wanted = static_cast<std::uint32_t>(
        4 * smallThreads / static_cast<double>(base_.original.block.count()));
    if (grid.y != 1 || grid.z != 1 || !hasSameShape() || wanted == 0 || grid.x <= 4 * wanted ||
        !loopsOverGrid(original_.kernel) || !loopsOverGrid(candidate_.kernel))
        return;
    base_.original.grid.x = base_.candidate.grid.x = wanted;
}

std::optional<LaunchSizes::Extents> ProbePlanner::addSize(const Extents& extents) {
    auto resized = sizes_.with(extents, true);
    // A launch of the same grid for every size may be larger.
    const double most =
        std::max(maxProbeThreads, std::min(threadsOf(base_.original), 4 * maxProbeThreads));
    if (!resized || threadsOf(resized->launch) > most)
        return std::nullopt;
    auto pair = candidateAt(resized->launch, resized->extents);
    if (!pair)
        return std::nullopt;
    add(std::move(resized->launch), std::move(*pair));
    return std::move(resized->extents);
}

std::vector<std::int64_t> ProbePlanner::interestingSizes(std::int64_t most) const {
    std::set<std::int64_t> sizes;
    const auto block = static_cast<std::int64_t>(base_.original.block.count());
    if (!sizes_.isGuarded() && !sizes_.hasBlockForEach()) {
        for (const std::int64_t blocks : {1, 2, 3, 5})
            sizes.insert(blocks * std::max(block, warpLanes));
    } else {
        sizes.insert({1, 2, 3, 5, 6, 31, 32, 33, 127, 129, 1026});
        sizes.insert({block - 1, block, block + 1, 2 * block + 2});
        std::set<std::int64_t> rests;
        for (const std::int64_t size : sizes)
            rests.insert(size % warpLanes);
        // Every other remainder, each with another number of whole warps.
        for (std::int64_t rest = 0; rest < warpLanes; ++rest) {
            if (!rests.contains(rest))
                sizes.insert(warpLanes * (rest * 7 % 11) + rest);
        }
    }
    std::erase_if(sizes, [&](std::int64_t size) { return size < 1 || size > most; });
    const bool isAlone = sizes_.extents().size() == 1;
    for (std::size_t i = 0; i < std::min(dictionary_.edited.size(), maxEditedSizes); ++i) {
        const std::int64_t edited = dictionary_.edited[i];
        if (isAlone || edited <= most)
            sizes.insert(edited);
        // A grid may cover whole blocks alone, and an odd number of them.
        if (isAlone)
            sizes.insert(edited + 2 * block);
    }
    return {sizes.begin(), sizes.end()};
}

void ProbePlanner::addSizes() {
    if (sizes_.extents().empty()) {
        plan_.unvaried.emplace_back("sizes: nothing that the launch passes or states sets them");
        return;
    }
    const std::size_t count = sizes_.extents().size();
    auto sizes =
        interestingSizes(maxExtentByCount.at(std::min(count, maxExtentByCount.size()) - 1));
    std::ranges::shuffle(sizes, random_);
    std::set<std::int64_t> tried;
    const std::size_t probes = count == 1 ? sizes.size() : multiExtentProbes;
    for (std::size_t probe = 0; probe < probes && !sizes.empty(); ++probe) {
        Extents extents;
        std::size_t axis = 0;
        for (const auto& [name, value] : sizes_.extents())
            extents[name] = sizes[(probe + 5 * axis++) % sizes.size()];
        // Now and then one extent is long: then the others are short.
        if (count > 1 && probe % 6 == 5) {
            for (auto& [name, size] : extents)
                size = std::min<std::int64_t>(size, 4);
            std::next(extents.begin(), static_cast<std::ptrdiff_t>(probe / 6 % count))->second =
                longExtents[probe / 6 / count % longExtents.size()];
        }
        if (const auto added = addSize(extents))
            for (const auto& [name, size] : *added)
                tried.insert(size);
    }
    if (tried.empty())
        tried = addSingleSizes();
    if (tried.empty())
        plan_.unvaried.emplace_back("sizes: the launch cannot be computed at others");
    else
        plan_.varied.push_back(fmt::format("sizes {}", listed(tried)));
}

/// Sizes of one extent alone. Returns those that a launch can have.
std::set<std::int64_t> ProbePlanner::addSingleSizes() {
    std::set<std::int64_t> tried;
    for (const auto& [name, value] : sizes_.extents()) {
        for (const std::int64_t size : {3, 6, 33, 70, 1026}) {
            Extents extents = baseExtents_;
            extents[name] = size;
            if (const auto added = addSize(extents))
                tried.insert(added->at(name));
        }
    }
    return tried;
}

/// Integers that the program passes may mean anything; where the original runs cleanly with
/// another value, the candidate must agree.
void ProbePlanner::addScalars() {
    if (threadsOf(base_.original) > maxProbeThreads * 16)
        return;
    // Launches of other shapes leave other parts of too much work undone.
    OtherScalars others = otherScalars(base_.original, statedOriginal_, original_, candidate_,
                                       sizes_.extents(), hasBlocksOfOwnWork() && hasSameShape());
    bool isPlain = false;
    for (LaunchSpec& launch : others.launches) {
        isPlain = !isPlain;
        if (isPlain) // A term more or less shows among others of its magnitude.
            add(std::move(launch), base_.candidate, InputStyle::Plain);
        else
            add(std::move(launch), base_.candidate);
    }
    for (const std::string& name : others.names)
        if (!base_.candidate.madeFor.contains(name))
            plan_.varied.push_back("'" + name + "'");
}

void ProbePlanner::addClassNumbers() {
    if (threadsOf(base_.original) > maxProbeThreads * 16)
        return;
    const std::vector<LaunchSpec> others = otherClassNumbers(original_, base_.original);
    for (const LaunchSpec& launch : others)
        add(launch, base_.candidate, InputStyle::Plain);
    if (!others.empty())
        plan_.varied.emplace_back("integers of classes");
}

/// True if a probe has a grid that the edited grid's blocks do not share equally; where these are
/// not fewer, one of another size than the base's.
bool ProbePlanner::hasUnequalShares(std::uint32_t Dim3::* axis) const {
    const std::uint32_t blocks = base_.original.grid.*axis;
    const std::uint32_t share = blocks / base_.candidate.grid.*axis;
    return std::ranges::any_of(plan_.probes, [&](const Trial& probe) {
        const std::uint32_t present = probe.original.grid.*axis;
        return share > 0 ? present != share * probe.candidate.grid.*axis : present != blocks;
    });
}

/// Fewer blocks than a guessed launch has, where the edited launch follows: an edit that gathers
/// blocks may treat what is left of a grid differently. Where the grid follows from sizes, these
/// show it, and fewer blocks would not fit them.
void ProbePlanner::addFewerBlocks() {
    if (!follower_ || !addsIntegers(original_.kernel, candidate_.kernel) ||
        base_.original.origin != LaunchOrigin::Guessed)
        return;
    for (std::uint32_t Dim3::* axis : {&Dim3::x, &Dim3::y}) {
        const bool staysAsItIs = base_.original.grid.*axis == base_.candidate.grid.*axis;
        if (base_.original.grid.*axis < 2 || staysAsItIs || hasUnequalShares(axis))
            continue;
        LaunchSpec original = base_.original;
        original.grid.*axis -= 1;
        const auto followed = follower_->of(original);
        if (!followed)
            continue;
        add(std::move(original), withShapeOf(base_.candidate, *followed));
        plan_.probes.back().label += ", one block less";
    }
}

void ProbePlanner::addGrids() {
    if (!hasSameShape()) {
        addFewerBlocks();
        return;
    }
    // Fewer would leave work undone that a loop over the grid does, unless both have one.
    if (loopsOverGrid(original_.kernel) && loopsOverGrid(candidate_.kernel)) {
        for (const std::uint32_t fewer : {6u, 3u}) {
            if (fewer >= base_.original.grid.x)
                continue;
            LaunchSpec original = base_.original;
            LaunchSpec candidate = base_.candidate;
            original.grid.x = candidate.grid.x = fewer;
            add(std::move(original), std::move(candidate));
            plan_.probes.back().label += fmt::format(", only {} blocks", fewer);
        }
    }
    for (const std::uint32_t more : {1u, 3u}) {
        LaunchSpec original = base_.original;
        LaunchSpec candidate = base_.candidate;
        original.grid.x = candidate.grid.x = base_.original.grid.x + more;
        add(std::move(original), std::move(candidate));
        plan_.probes.back().label += fmt::format(", {} blocks more than needed", more);
    }
    plan_.varied.emplace_back("the number of blocks");
}

void ProbePlanner::addBlocks() {
    const bool isStated =
        original_.kernel.launchBoundsThreads ||
        std::ranges::any_of(original_.kernel.launches, [](const analysis::LaunchSite& site) {
            return !site.constantBlock.empty();
        });
    const LaunchSpec& launch = base_.original;
    const std::vector<Dim3> blocks = isStated || !hasSameShape()
                                         ? std::vector<Dim3>()
                                         : otherBlocks(original_, candidate_, launch);
    if (blocks.empty()) {
        plan_.unvaried.push_back(
            fmt::format("the block size: {}",
                        isStated ? fmt::format("the launch states {}", launch.block.count())
                                 : "other values depend on it"));
        return;
    }
    for (const Dim3& block : blocks) {
        LaunchSpec original = launch;
        LaunchSpec candidate = base_.candidate;
        original.block = candidate.block = block;
        original.grid = candidate.grid = gridOfBlocks(launch, block);
        add(std::move(original), std::move(candidate));
        plan_.probes.back().label += block.y == 1
                                         ? fmt::format(", blocks of {}", block.x)
                                         : fmt::format(", blocks of {}x{}", block.x, block.y);
    }
    // Threads that share the work of a block get more of it each.
    if (launch.block.x > warpLanes && launch.block.count() == launch.block.x &&
        hasBlocksOfOwnWork()) {
        LaunchSpec original = launch;
        LaunchSpec candidate = base_.candidate;
        original.block.x = candidate.block.x = warpLanes;
        add(std::move(original), std::move(candidate));
        plan_.probes.back().label += fmt::format(", as many blocks of {}", warpLanes);
    }
    plan_.varied.emplace_back("the block size");
}

/// Where data decides which elements are updated atomically, threads have to meet at some.
void ProbePlanner::addCollisions() {
    if (original_.kernel.atomics.empty() || threadsOf(base_.original) > maxProbeThreads * 16)
        return;
    add(base_.original, base_.candidate, InputStyle::Collisions);
    plan_.varied.emplace_back("indices that collide");
}

/// Adds several probes with large values, since a NaN hides the rest of a sum.
void ProbePlanner::addLargeValues() {
    if (bounds_.numerics == skills::Numerics::Exact ||
        threadsOf(base_.original) > maxProbeThreads * 16)
        return;
    add(base_.original, base_.candidate, InputStyle::Close);
    plan_.varied.emplace_back("values close to each other");
    if (bounds_.numerics != skills::Numerics::Reassociates)
        return;
    constexpr int probes = 3; // The last has negative values alone.
    for (int probe = 0; probe < probes; ++probe) {
        add(base_.original, base_.candidate, InputStyle::Large);
        plan_.probes.back().onlyFiniteness = true;
    }
    plan_.varied.emplace_back("values whose exponentials overflow");
    add(base_.original, base_.candidate, InputStyle::Wide);
    plan_.varied.emplace_back("values of some tens");
}

void ProbePlanner::addTinyValues() {
    if (!writesFloats(base_.original) || threadsOf(base_.original) > maxProbeThreads * 16)
        return;
    // A few lost results of one probe alone may be chance. Of an exact edit no digit is lost.
    const bool isExact = bounds_.numerics == skills::Numerics::Exact;
    const std::size_t probes = usualTinyTurns + (isExact ? 0 : dictionary_.vanishing.size());
    for (std::size_t probe = 0; probe < probes; ++probe)
        add(base_.original, base_.candidate, InputStyle::Tiny);
    plan_.varied.emplace_back("values near zero");
    if (probes > usualTinyTurns)
        plan_.varied.emplace_back("values that vanish beside the constants of the edit");
}

/// Where little else varies, the values have to do it alone.
void ProbePlanner::addValues() {
    if (threadsOf(base_.original) > maxProbeThreads * 16)
        return;
    while (plan_.probes.size() < minProbes)
        add(base_.original, base_.candidate);
}

void ProbePlanner::addEqualPointers() {
    // These say which memory there is.
    if (base_.original.origin == LaunchOrigin::Pinned ||
        base_.original.origin == LaunchOrigin::Captured)
        return;
    const PointerPairs pairs = pointerPairs(original_, candidate_);
    for (const PointerPair& pair : pairs.newlyRestricted)
        plan_.unvaried.push_back(fmt::format("equal pointers: the edit is right only if '{}' and "
                                             "'{}' do not overlap",
                                             pair.input, pair.output));
    if (pairs.equal.empty() || threadsOf(base_.original) > maxProbeThreads * 16)
        return;
    for (const PointerPair& pair : pairs.equal) {
        add(withEqualPointers(base_.original, pair), base_.candidate, InputStyle::Plain);
        Trial& probe = plan_.probes.back();
        probe.hasEqualPointers = true;
        probe.label += fmt::format(", '{}' and '{}' equal", pair.input, pair.output);
    }
    plan_.varied.emplace_back("equal pointers");
}

/// The base launch, or the largest whole probe if the base is too large to be run again and again;
/// nullopt if no probe is small enough.
std::optional<Trial> ProbePlanner::launchToShift() const {
    constexpr double maxThreads = 16 * maxProbeThreads;
    if (threadsOf(base_.original) <= maxThreads)
        return base_;
    std::optional<Trial> largest;
    for (const Trial& probe : plan_.probes) {
        const double threads = threadsOf(probe.original);
        if (!probe.maxBlocks && threads <= maxThreads &&
            (!largest || threads > threadsOf(largest->original)))
            largest = probe;
    }
    return largest;
}

/// Guards of vector accesses ask where buffers begin.
void ProbePlanner::addShiftedBuffers() {
    if (!usesAddresses(candidate_))
        return;
    const std::optional<Trial> launch = launchToShift();
    if (!launch)
        return;
    for (LaunchSpec& shifted : withShiftedBuffers(launch->original)) {
        add(std::move(shifted), launch->candidate);
        plan_.probes.back().label += ", at odd addresses";
    }
    plan_.varied.emplace_back("the alignment of buffers");
}

void ProbePlanner::addDistantBlocks() {
    if (sizes_.extents().empty() || !sizes_.isGuarded())
        return;
    if (!takesBuffersOf(stated_, base_.original)) {
        plan_.unvaried.emplace_back("blocks of larger launches: the edit has buffers of its own");
        return;
    }
    for (const Distance& distance : distances)
        addDistant(distance);
    if (plan_.distant.empty()) {
        plan_.unvaried.emplace_back("blocks of larger launches: none can be computed for both");
        return;
    }
    Trial sample = whole_;
    sample.isProbe = true;
    plan_.sameBlocks = someBlocksOf(std::move(sample), sampledBlocks);
}

/// Adds a launch with about so many threads, of which some blocks run. One extent after the other
/// is made large until the grid follows it; the others are short, since threads may loop over them.
void ProbePlanner::addDistant(const Distance& distance) {
    const double threads = distance.threads;
    for (const auto& [large, unused] : sizes_.extents()) {
        Extents extents;
        for (const auto& [name, value] : sizes_.extents())
            extents[name] = std::min<std::int64_t>(value, distance.maxOther);
        double others = 1;
        for (const auto& [name, value] : extents)
            others *= name == large ? 1 : static_cast<double>(value);
        const bool isLooped = loopsOverGrid(original_.kernel) || loopsOverGrid(candidate_.kernel);
        const double bound = (isLooped ? maxLoopedElements : maxDistantElements) / others;
        // The grid need not be proportional to the extent.
        std::optional<LaunchSpec> launch;
        for (int round = 0; round < 3; ++round) {
            const double ratio = launch ? threads / threadsOf(*launch) : 1.0;
            const double wanted = static_cast<double>(extents[large]) * ratio;
            extents[large] = static_cast<std::int64_t>(std::min(wanted, bound)) | 1;
            launch = sizes_.at(extents);
            if (!launch)
                break;
        }
        // The grid covers all positions: a candidate that loops over the grid would do the rest
        // that the original leaves out.
        if (auto whole = launch ? sizes_.with(extents, false) : std::nullopt) {
            launch = std::move(whole->launch);
            extents = std::move(whole->extents);
        }
        if (!launch || threadsOf(*launch) > 2 * threads || threadsOf(*launch) < threads / 64)
            continue;
        auto pair = candidateAt(*launch, extents);
        if (!pair || pair->grid != launch->grid || pair->block != launch->block)
            continue;
        if (distance.isPlain)
            add(std::move(*launch), std::move(*pair), InputStyle::Plain);
        else
            add(std::move(*launch), std::move(*pair));
        plan_.distant.push_back(someBlocksOf(std::move(plan_.probes.back()), distance.blocks));
        plan_.probes.pop_back();
        return;
    }
}

} // namespace

std::string describe(const ProbePlan& plan, std::size_t left) {
    std::string text = fmt::format("varied: {}", fmt::join(plan.varied, "; "));
    if (!plan.unvaried.empty())
        text += fmt::format(". Not varied: {}", fmt::join(plan.unvaried, "; "));
    if (left > 0)
        text += fmt::format(". {} more say nothing, because the original does not run cleanly on "
                            "them",
                            left);
    return text;
}

std::vector<Trial> planInstanceProbes(KernelInFile original, KernelInFile candidate,
                                      const Trial& trial, skills::Numerics numerics,
                                      std::uint64_t seed) {
    const ValueDictionary dictionary = valueDictionary(original, candidate);
    using Turn = std::pair<InputStyle, std::size_t>;
    std::vector<Turn> turns{
        {InputStyle::Constants, 0}, {InputStyle::Extremes, 0}, {InputStyle::Ties, 0}};
    if (numerics != skills::Numerics::Exact) {
        turns = {{InputStyle::Ties, 0}, {InputStyle::Tiny, 0}};
        for (std::size_t i = 0; i < dictionary.vanishing.size(); ++i)
            turns.emplace_back(InputStyle::Tiny, usualTinyTurns + i);
    }
    if (numerics == skills::Numerics::Reassociates)
        turns.insert(turns.end(), {Turn{InputStyle::Wide, 0}, Turn{InputStyle::Large, 0}});
    std::vector<Trial> probes;
    for (const auto& [style, turn] : turns) {
        Trial probe = trial;
        probe.seeds = 1;
        probe.isProbe = true;
        probe.onlyFiniteness = style == InputStyle::Large;
        probe.label += fmt::format(", {}", describe(style));
        probe.original = withStyle(std::move(probe.original), style, dictionary,
                                   {.numerics = numerics, .turn = turn}, seed + 1);
        probe.candidate = withArgumentsOf(std::move(probe.candidate), probe.original);
        probes.push_back(std::move(probe));
        // Large launches take long.
        if (threadsOf(trial.original) > maxProbeThreads * 8)
            break;
    }
    return probes;
}

ProbePlan planProbes(KernelInFile original, KernelInFile candidate, const TrialPlan& plan,
                     skills::Numerics numerics, std::uint64_t seed) {
    return ProbePlanner(original, candidate, plan, numerics, seed).plan();
}

} // namespace kernelskill::engine
