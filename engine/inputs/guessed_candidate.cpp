#include "analysis/model/scalar_kinds.h"
#include "engine/inputs/launch_candidates.h"
#include "engine/inputs/launch_text.h"
#include "engine/inputs/shared_bound.h"
#include "engine/inputs/shared_fit.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iterator>

namespace kernelskill::engine {

using analysis::Value;

namespace {

/// The max number of blocks along an axis of a guessed grid.
constexpr std::int64_t maxBlocks = 4096;

/// A block for a kernel. `compiled` is the number of threads along a side that it is compiled for,
/// if any.
std::array<std::int64_t, 3> guessedShape(std::optional<std::int64_t> compiled, bool twoD,
                                         bool threeD, std::int64_t limit) {
    using Extent = std::array<std::int64_t, 3>;
    if (threeD)
        return limit >= 256 ? Extent{8, 8, 4} : Extent{4, 4, 2};
    if (twoD) {
        if (compiled && *compiled >= 2 && *compiled * *compiled <= limit)
            return {*compiled, *compiled, 1};
        return limit >= 256 ? Extent{16, 16, 1} : Extent{8, 8, 1};
    }
    if (compiled && *compiled >= 16 && *compiled <= limit)
        return {*compiled, 1, 1};
    return {std::min<std::int64_t>(256, limit), 1, 1};
}

} // namespace

LaunchCandidates::Extent
LaunchCandidates::guessedBlock(const HostScope& scope,
                               const std::vector<std::string>& arguments) const {
    const bool threeD = text_ && text_->usesThread[2];
    const bool twoD = text_ && text_->usesThread[1];
    const auto limit = kernel_.launchBoundsThreads.value_or(1024);
    // A size that the kernel is compiled for: a template parameter, a macro, a shared array.
    std::optional<std::int64_t> compiled;
    const auto isBlockName = [](const std::string& name) {
        std::string lower;
        std::ranges::transform(name, std::back_inserter(lower),
                               [](unsigned char c) { return std::tolower(c); });
        for (const auto* part : {"block", "tile", "thread", "tpb", "nthr", "wg"}) {
            if (lower.find(part) != std::string::npos)
                return true;
        }
        return false;
    };
    for (std::size_t i = 0; i < kernel_.templateParameters.size() && i < arguments.size(); ++i) {
        if (!kernel_.templateParameters[i].isType &&
            isBlockName(kernel_.templateParameters[i].name) && !compiled)
            compiled = std::strtoll(arguments[i].c_str(), nullptr, 10);
    }
    std::vector<std::int64_t> extents;
    if (text_) {
        for (const auto& [begin, end] : text_->sharedExtents) {
            if (const auto extent = scope.value(begin, end))
                extents.push_back(extent->asInteger());
        }
        for (const auto& name : text_->names) {
            if (!compiled && isBlockName(name) && program_.macros().contains(name)) {
                if (const auto value = scope.name(name))
                    compiled = value->asInteger();
            }
        }
    }
    if (!compiled && twoD && extents.size() == 2)
        compiled = std::min(extents[0], extents[1]);
    if (!compiled && !twoD && extents.size() == 1)
        compiled = extents[0];
    Extent expected = {0, 0, 0};
    for (std::size_t axis = 0; text_ && axis < 3; ++axis) {
        const auto& factor = text_->blockFactor[axis];
        const auto value = factor ? scope.value(factor->first, factor->second) : std::nullopt;
        expected[axis] = value ? value->asInteger() : 0;
    }
    const Extent shape = guessedShape(compiled, twoD, threeD, limit);
    const auto chosen = [&](std::size_t axis) {
        return expected[axis] > 0 && expected[axis] <= 1024 ? expected[axis] : shape[axis];
    };
    const Extent result = {chosen(0), chosen(1), chosen(2)};
    return result[0] * result[1] * result[2] <= 1024 ? result : shape;
}

/// The block of the first launch whose block can be evaluated though its grid cannot.
std::optional<LaunchCandidates::Extent> LaunchCandidates::blockOfSites() const {
    for (const bool mayGuess : {false, true}) {
        for (const auto& site : sites_) {
            const auto sizes = settings(mayGuess, nullptr, casesAround(site), &site);
            const auto block =
                HostScope(program_, site.place, sizes)
                    .extent(site.configuration[1].first, site.configuration[1].second);
            const auto dim = block ? dim3Of(*block, 1024) : std::nullopt;
            if (dim && dim->count() <= 1024)
                return block;
        }
    }
    return std::nullopt;
}

std::optional<std::int64_t> LaunchCandidates::blocksToBound(const HostScope& scope,
                                                            std::size_t axis, const Extent& block,
                                                            const Overrides& integers) const {
    if (!text_ || !text_->usesBlock[axis] || !text_->bounds[axis])
        return std::nullopt;
    const auto bound = scope.value(text_->bounds[axis]->first, text_->bounds[axis]->second);
    if (!bound || bound->asInteger() <= 0)
        return std::nullopt;
    if (text_->boundIsShared[axis]) {
        if (const auto blocks = blocksBelow(kernel_, axis, bound->asInteger(), block, integers))
            return std::min(*blocks, maxBlocks);
        if (axis > 0 && text_->boundIsShared[0]) // The blocks along x reach it by themselves.
            return std::nullopt;
    }
    const std::int64_t perBlock = text_->boundIsPerBlock[axis] ? 1 : block[axis];
    return std::clamp<std::int64_t>((bound->asInteger() + perBlock - 1) / perBlock, 1, maxBlocks);
}

void LaunchCandidates::coverBounds(LaunchSpec& spec, const SiteText& site,
                                   const std::vector<std::optional<Value>>& values,
                                   const Overrides& given) const {
    // Names that `given` overrides count as guessed, too.
    const Overrides cases = casesAround(site);
    EvaluationLog log;
    const auto guessing = settings(true, &log, cases, &site);
    const auto [begin, end] = site.configuration[0];
    static_cast<void>(HostScope(program_, site.place, guessing).extent(begin, end));
    // If block and arguments follow from the same guesses, the program itself says how they fit.
    EvaluationLog passed;
    const auto passing = settings(true, &passed, cases, &site);
    const HostScope atLaunch(program_, site.place, passing);
    static_cast<void>(atLaunch.extent(site.configuration[1].first, site.configuration[1].second));
    for (std::size_t i = 0; i < std::min(site.arguments.size(), kernel_.parameters.size()); ++i)
        if (kernel_.parameters[i].type.pointerDepth == 0)
            static_cast<void>(atLaunch.value(site.arguments[i].first, site.arguments[i].second));
    if (std::ranges::all_of(
            log.guesses, [&](const auto& guess) { return passed.guesses.contains(guess.first); }))
        return;
    Overrides known = given;
    for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
        const auto& parameter = kernel_.parameters[i];
        if (parameter.type.pointerDepth == 0 && !isFloatingScalar(parameter.type.scalar))
            known.insert_or_assign(parameter.name,
                                   values[i] ? values[i]->asInteger() : guessOf(parameter).integer);
    }
    const auto sizes = settings(true, nullptr, known);
    const HostScope scope(program_, kernelPlace(), sizes);
    const Dim3 stated = spec.grid;
    const Extent block = {spec.block.x, spec.block.y, spec.block.z};
    const auto cover = [&](std::size_t axis, std::uint32_t& blocks) {
        if (const auto needed = blocksToBound(scope, axis, block, known))
            blocks = std::max(blocks, static_cast<std::uint32_t>(*needed));
    };
    cover(0, spec.grid.x);
    cover(1, spec.grid.y);
    cover(2, spec.grid.z);
    if (spec.grid != stated)
        spec.statedGrid = stated;
}

LaunchCandidate LaunchCandidates::guessed(const Overrides& overrides) const {
    LaunchCandidate result;
    auto& spec = result.spec;
    spec.origin = LaunchOrigin::Guessed;
    spec.isShapeGuessed = true;
    spec.kernel = kernel_.qualifiedName;
    Overrides known = overrides;
    std::vector<std::optional<Value>> values(kernel_.parameters.size());
    for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
        const auto& parameter = kernel_.parameters[i];
        const bool integral = parameter.type.pointerDepth == 0 &&
                              parameter.type.scalar >= analysis::ScalarKind::Bool &&
                              parameter.type.scalar <= analysis::ScalarKind::UInt64;
        if (!integral)
            continue;
        const auto guess = guessOf(parameter);
        const auto value = known.emplace(parameter.name, guess.integer).first->second;
        values[i] = Value::of(value);
        if (guess.isExtent)
            result.roots.emplace(parameter.name, value);
    }
    const SiteText* site = siteFor(known);
    spec.templateArguments = templateArguments(site);
    if (site != nullptr)
        spec.madeFor = madeFor(*site, spec.templateArguments);
    Overrides named = known;
    for (std::size_t i = 0; i < kernel_.templateParameters.size(); ++i) {
        const analysis::TemplateParameter& parameter = kernel_.templateParameters[i];
        if (parameter.isType)
            continue;
        const auto value = std::strtoll(spec.templateArguments[i].c_str(), nullptr, 10);
        known.emplace(parameter.name, value);
        if (site == nullptr)
            named.emplace(parameter.name, value);
    }
    const auto guessing = settings(true, nullptr, known);
    const HostScope scope(program_, kernelPlace(), guessing);
    auto block = blockOfSites();
    if (!block)
        block = fittedToShared(kernel_, guessedBlock(scope, spec.templateArguments));
    Extent grid = {1, 1, 1};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (!text_ || !text_->usesBlock[axis])
            continue;
        grid[axis] = blocksToBound(scope, axis, *block, known).value_or(axis == 0 ? 16 : 4);
    }
    spec.grid = dim3Of(grid, maxBlocks).value_or(Dim3{});
    spec.block = dim3Of(*block, 1024).value_or(Dim3{256, 1, 1});
    if (text_ && text_->hasDynamicShared)
        spec.dynamicSharedBytes = std::max<std::uint64_t>(spec.block.count() * 16, 16384);
    spec.notes.emplace_back(
        "no launch of it can be evaluated, so grid and block follow from the kernel's own indices");
    if (!named.empty())
        spec.notes.push_back("guessed from the names: " + listed(named));
    passArguments(spec, values,
                  std::vector<std::optional<std::int64_t>>(kernel_.parameters.size()));
    return result;
}

} // namespace kernelskill::engine
