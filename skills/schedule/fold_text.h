/// The primitive `share`: threads take turns at the rounds of a loop and fold what they found.
#pragma once

#include "skills/schedule/draft.h"
#include "skills/schedule/shared_loops.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

/// Returns the literal that changes nothing when it is folded into a sum, a product or an exclusive
/// or.
[[nodiscard]] std::string identityOf(const LaneFold& fold);
/// Returns the statement that folds `value` into the fold's own.
[[nodiscard]] std::string foldLine(const LaneFold& fold, const std::string& value);

/// Who shares the rounds of a loop, as expressions: the number of the thread among them, and how
/// many they are.
struct Sharers {
    std::string index;
    std::string count;
};

/// Deals the rounds of the loop out to the sharers in turns. All sharers but the first begin with
/// the identities of the folds. Counts of countLines() are counted.
void shareRounds(Draft& draft, const SkillContext& context, const LaneLoop& loop,
                 const Sharers& sharers);

/// Returns the declarations of counts that the kernel has no variables for, which stand before the
/// loop.
[[nodiscard]] std::vector<std::string> countLines(const LaneLoop& loop);

/// A value that threads fold, by its register.
struct FoldedValue {
    std::string name;
    std::string type;
};

/// Returns the values that the loop folds into.
[[nodiscard]] std::vector<FoldedValue> foldedValues(const SkillContext& context,
                                                    const LaneLoop& loop);

/// Returns the expression of another thread's value of that name.
using OtherValue = std::function<std::string(const std::string& name)>;

/// Returns the statements that fold the values of another thread into one's own.
[[nodiscard]] std::vector<std::string> foldLines(const Draft& draft, const SkillContext& context,
                                                 const LaneLoop& loop, const OtherValue& other);

/// Returns the statements by which threads that have folded in pairs take the values of the first
/// one, where the two of a pair may have rounded differently.
[[nodiscard]] std::vector<std::string> agreeLines(const SkillContext& context, const LaneLoop& loop,
                                                  const OtherValue& first);

/// A value's array in shared memory, where each thread, or each warp, stores its part.
struct Partial {
    FoldedValue value;
    std::string array;
};

/// Returns the arrays of each loop, with names that the kernel does not use yet.
[[nodiscard]] std::vector<std::vector<Partial>> partialsOf(const SkillContext& context,
                                                           const SharedLoops& shared);
[[nodiscard]] const Partial& partialOf(const std::vector<Partial>& partials,
                                       const std::string& name);

/// Adds lines to the beginning of the kernel.
void writeHead(Draft& draft, const SkillContext& context, const std::vector<std::string>& lines);

/// Returns "float" for "const float".
[[nodiscard]] std::string withoutConst(std::string type);

/// Returns `name` with `first` before it, in the way that the kernel's names are written:
/// "partialSum", "partial_sum".
[[nodiscard]] std::string joinedName(const SkillContext& context, std::string_view first,
                                     std::string name);

} // namespace kernelskill::skills
