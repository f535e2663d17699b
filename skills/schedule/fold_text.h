/// The primitive `share`: threads take turns at the rounds of a loop and fold what they found.
#pragma once

#include "skills/schedule/draft.h"
#include "skills/schedule/shared_loops.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

/// What changes nothing when it is folded into the value; not of a minimum or a maximum.
[[nodiscard]] std::string identityOf(const LaneFold& fold);
/// The statement that folds `value` into the fold's own.
[[nodiscard]] std::string foldLine(const LaneFold& fold, const std::string& value);

/// Who shares the rounds of a loop, as expressions: the number of the thread among them, and how
/// many they are.
struct Sharers {
    std::string index;
    std::string count;
};

/// The rounds of the loop go round the sharers. All but the first begin with what changes nothing.
void shareRounds(Draft& draft, const SkillContext& context, const LaneLoop& loop,
                 const Sharers& sharers);

/// A value that threads fold, by its register.
struct FoldedValue {
    std::string name;
    std::string type;
};

/// The values that the loop folds into.
[[nodiscard]] std::vector<FoldedValue> foldedValues(const SkillContext& context,
                                                    const LaneLoop& loop);

/// The expression of another thread's value.
using OtherValue = std::function<std::string(const std::string& name)>;

/// Statements that fold the values of another thread into one's own.
[[nodiscard]] std::vector<std::string> foldLines(const Draft& draft, const SkillContext& context,
                                                 const LaneLoop& loop, const OtherValue& other);

/// A value's array in shared memory, where each thread, or warp, lays its part.
struct Partial {
    FoldedValue value;
    std::string array;
};

/// Those of each loop, all with names of their own.
[[nodiscard]] std::vector<std::vector<Partial>> partialsOf(const SkillContext& context,
                                                           const SharedLoops& shared);
[[nodiscard]] const Partial& partialOf(const std::vector<Partial>& partials,
                                       const std::string& name);

/// Adds lines to the beginning of the kernel.
void writeHead(Draft& draft, const SkillContext& context, const std::vector<std::string>& lines);

/// "float" of "const float".
[[nodiscard]] std::string withoutConst(std::string type);

/// `name` with `first` before it, in the way that the kernel's names are written: "partialSum",
/// "partial_sum".
[[nodiscard]] std::string joinedName(const SkillContext& context, std::string_view first,
                                     std::string name);

} // namespace kernelskill::skills
