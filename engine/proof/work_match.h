/// Finds out for which numbers of the original the candidate's threads work.
#pragma once

#include "engine/proof/integer_facts.h"
#include "engine/proof/thread_run.h"

#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// The original's run for one number.
struct WorkItem {
    Term number = 0;
    ThreadTrace trace;
};
/// Runs the original for a number.
using ItemRun = std::function<std::expected<WorkItem, std::string>(Term)>;

/// A section of the candidate whose variable v does the numbers from `items.size() * v` on.
struct SharedSection {
    std::size_t section = 0; ///< Its number in the candidate's trace.
    std::vector<WorkItem> items;
    /// An access of the original that the candidate makes.
    struct Match {
        std::size_t item = 0;
        std::size_t access = 0;
    };
    /// The key is the index of the candidate's access.
    std::map<std::size_t, std::vector<Match>> matches;
};

class WorkMatch {
public:
    /// Keeps all references. `lastItem`: the largest number that the original works for.
    WorkMatch(TermTable& terms, IntegerFacts& integers, const ThreadTrace& candidate,
              ItemRun original, Wide lastItem)
        : terms_(terms), integers_(integers), candidate_(candidate), original_(std::move(original)),
          lastItem_(lastItem) {}

    /// Requires each access of the candidate to be one that the original makes for the same number,
    /// and each write of the original to be made for each number once. The reason if it is not.
    [[nodiscard]] std::expected<std::vector<SharedSection>, std::string> find();

private:
    [[nodiscard]] std::expected<SharedSection, std::string> matchSection(std::size_t section,
                                                                         Wide width);
    [[nodiscard]] std::optional<std::string> matchAccess(std::size_t index, SharedSection& shared);
    [[nodiscard]] std::optional<std::string> writesAll(const SharedSection& shared);
    [[nodiscard]] std::optional<std::string> coversOnce(const std::vector<SharedSection>& all);

    TermTable& terms_;
    IntegerFacts& integers_;
    const ThreadTrace& candidate_;
    ItemRun original_;
    Wide lastItem_;
};

} // namespace kernelskill::engine
