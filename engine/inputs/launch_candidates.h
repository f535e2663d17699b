/// Each way to launch a kernel that its file suggests. Each is kept with the values it was computed
/// from, so that it can be computed again at another size.
#pragma once

#include "engine/inputs/argument_specs.h"
#include "engine/inputs/host_scope.h"
#include "engine/inputs/kernel_text.h"
#include "engine/inputs/launch_sites.h"
#include "engine/inputs/launch_source.h"
#include "engine/inputs/name_guesses.h"
#include "engine/inputs/pin_syntax.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct LaunchCandidate {
    LaunchSpec spec;
    std::map<std::string, std::int64_t> roots; ///< Sizes that may be changed, with their values.
};

class LaunchCandidates {
public:
    LaunchCandidates(const analysis::FileModel& file, const analysis::KernelModel& kernel,
                     LaunchTarget target = LaunchTarget::Emulator);
    /// `source` is of `file`.
    LaunchCandidates(std::shared_ptr<const LaunchSource> source, const analysis::FileModel& file,
                     const analysis::KernelModel& kernel, LaunchTarget target);

    /// Best first; the error of the first parameter that cannot be passed.
    [[nodiscard]] Result<std::vector<LaunchCandidate>> all() const;
    /// Computed again with other values for roots; nullopt when that gives no valid launch.
    [[nodiscard]] std::optional<LaunchSpec>
    again(const LaunchSpec& launch, const std::map<std::string, std::int64_t>& overrides) const;
    /// Whether the launch is replayed in another process, or only its numbers are needed. For
    /// numbers, arguments that another process cannot be given count as bytes.
    enum class CapturedUse : std::uint8_t { Replay, Numbers };
    /// Failed, saying in one sentence why, when the kernel takes something else by now.
    [[nodiscard]] Result<LaunchSpec> captured(const StoredLaunch& stored,
                                              CapturedUse use = CapturedUse::Replay) const;

    struct SiteShape {
        Dim3 grid;
        Dim3 block;
        std::uint64_t sharedBytes = 0;
        bool operator==(const SiteShape&) const = default;
    };
    /// A launch in the text.
    struct CapturedSite {
        std::string configuration;      ///< Grid, block and shared bytes as written.
        std::optional<SiteShape> shape; ///< Their values with the scalars of `captured`.
        bool operator==(const CapturedSite&) const = default;
    };
    [[nodiscard]] std::vector<CapturedSite> sitesWith(const LaunchSpec& captured) const;
    /// The number of launches in the text.
    [[nodiscard]] std::size_t sites() const { return sites_.size(); }
    /// Evaluates the launch number `site` of this text. `before` is the text before an edit, whose
    /// launch number `site` is `captured`: parts that both texts share have the values of its grid
    /// and block. Parameters behind the captured ones are integers. nullopt: it cannot be
    /// evaluated.
    [[nodiscard]] std::optional<LaunchSpec>
    relaunched(const LaunchCandidates& before, std::size_t site, const LaunchSpec& captured) const;
    /// Whether the grid of the launch number `site` is made by a function of the host from another
    /// number than before: `gridOf(4 * n)` for `gridOf(n)`.
    [[nodiscard]] bool changesCount(const LaunchCandidates& before, std::size_t site) const;

    /// The instance of the kernel that a launch in the text runs.
    struct SiteInstance {
        std::vector<std::string> templateArguments;
        /// The integers that the launch passes, by the parameter's name, as far as they are known.
        std::map<std::string, std::int64_t> passed;
        /// The integers that the instance is for, see LaunchSpec::madeFor, and the constants that
        /// the launch passes.
        std::map<std::string, std::int64_t> madeFor;
    };
    [[nodiscard]] std::vector<SiteInstance> instances() const;

    [[nodiscard]] bool hasBounds() const { return text_ && text_->hasBounds(); }

private:
    using Overrides = std::map<std::string, std::int64_t>;
    using Extent = std::array<std::int64_t, 3>;

    [[nodiscard]] std::optional<LaunchCandidate> pinned(const ParsedPin& pin,
                                                        const Overrides& overrides) const;
    [[nodiscard]] std::optional<LaunchCandidate> fromSite(const SiteText& site, bool mayGuess,
                                                          const Overrides& overrides) const;
    /// The names that a launch in the text passes on as they stand, with what was passed.
    [[nodiscard]] Overrides namesPassed(const SiteText& site, const LaunchSpec& captured) const;
    [[nodiscard]] std::optional<Extent> blockOfSites() const;
    [[nodiscard]] LaunchCandidate guessed(const Overrides& overrides) const;
    /// The number of such blocks that reach the bound of the axis; nullopt without one. `integers`:
    /// values of parameters.
    [[nodiscard]] std::optional<std::int64_t> blocksToBound(const HostScope& scope,
                                                            std::size_t axis, const Extent& block,
                                                            const Overrides& integers) const;
    /// Enlarges the grid to the kernel's own bounds if it follows a guessed name that neither the
    /// kernel's arguments nor its block follow: that guess and the guess of a bound need not fit
    /// together.
    void coverBounds(LaunchSpec& spec, const SiteText& site,
                     const std::vector<std::optional<analysis::Value>>& values,
                     const Overrides& given) const;
    /// The same, smaller, when it is too large for the target.
    [[nodiscard]] std::optional<LaunchCandidate> fitted(const SiteText& site, bool mayGuess) const;

    /// `site`: of the launch around whose values are asked for; nullptr for the kernel's own.
    [[nodiscard]] EvaluationSettings settings(bool mayGuess, EvaluationLog* log,
                                              const Overrides& overrides,
                                              const SiteText* site = nullptr) const;
    [[nodiscard]] std::map<std::string, std::int64_t> gridLengths(const SiteText& site,
                                                                  bool mayGuess,
                                                                  const Overrides& given,
                                                                  const EvaluationLog& block) const;
    [[nodiscard]] bool isTooLarge(const LaunchSpec& spec) const;
    [[nodiscard]] Overrides casesAround(const SiteText& site) const;
    /// The integers that the launch's instance is for, see LaunchSpec::madeFor.
    [[nodiscard]] Overrides madeFor(const SiteText& site,
                                    const std::vector<std::string>& templateArguments) const;
    /// Returns the launch that the program reaches with these arguments, where the file launches
    /// instances for certain values of arguments; nullptr where it launches none.
    [[nodiscard]] const SiteText* siteFor(const Overrides& arguments) const;
    [[nodiscard]] std::map<std::string, std::int64_t> findLengths() const;
    [[nodiscard]] NameGuess guessOf(const analysis::Parameter& parameter) const;
    [[nodiscard]] bool isCompiledIn(const std::string& root) const;
    [[nodiscard]] std::vector<std::string> templateArguments(const SiteText* site) const;
    [[nodiscard]] std::uint32_t line() const; ///< Line of the kernel's name, one-based.
    [[nodiscard]] Extent guessedBlock(const HostScope& scope,
                                      const std::vector<std::string>& arguments) const;
    [[nodiscard]] TextPlace kernelPlace() const;
    [[nodiscard]] std::optional<std::int64_t>
    sentinelOf(const analysis::Parameter& parameter) const;
    static void pinSymbol(LaunchSpec& spec, const PinnedArgument& argument, const HostScope& scope);
    void addSymbols(LaunchSpec& spec) const;
    [[nodiscard]] std::int64_t
    indexRangeOf(const analysis::Parameter& pointer, std::int64_t usual, const LaunchSpec& spec,
                 const std::vector<std::optional<std::int64_t>>& bytes) const;
    void passArguments(LaunchSpec& spec, const std::vector<std::optional<analysis::Value>>& values,
                       const std::vector<std::optional<std::int64_t>>& bytes) const;

    const analysis::FileModel& file_;
    const analysis::KernelModel& kernel_;
    LaunchTarget target_;
    std::shared_ptr<const LaunchSource> source_;
    const ProgramText& program_;
    std::optional<KernelText> text_;
    std::vector<SiteText> sites_;
    /// Lengths of parameters that loops count up to or that positions are checked against, and of
    /// the host variables passed for them.
    std::map<std::string, std::int64_t> lengths_;
};

} // namespace kernelskill::engine
