/// Arrays of records: each thread works on one of them, and neighbouring threads on neighbours.
#pragma once

#include "skills/aos-staging/row_guard.h"
#include "skills/base/skill.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// A place in the kernel's text that goes to a thread's record.
struct RecordPlace {
    analysis::ExprId expression = analysis::noId; ///< `a[i]`, `a + i`, `x[3 * i + 1]`, `x + 3 * i`.
    bool isAddress = false;
    /// Words from the record's beginning: a sum of constants and of variables of loops.
    analysis::IndexExpression offset;
};

struct RecordArray {
    analysis::VariableId variable = analysis::noId;
    std::string element;  ///< The type of the array's elements.
    bool isClass = false; ///< Each element is a record; else a record is several elements.
    bool isConst = false; ///< The pointer leads to something const.
    std::uint32_t wordBytes = 0;
    std::int64_t words = 0; ///< The number of words in a record.
    bool isRead = false;
    bool isWritten = false;
    std::vector<RecordPlace> places;
    std::vector<analysis::StmtId> roots; ///< Statements of the outermost block that go to it.
    /// The variable that is the number of a thread's record. Where it is declared behind the
    /// checks, its initialiser can be computed before them. noId: the number is blockIdx.x *
    /// blockDim.x + threadIdx.x.
    analysis::VariableId number = analysis::noId;
    std::size_t stores = 0;   ///< Stores of a thread to different parts of its record.
    double sectorsBefore = 0; ///< Sectors that all requests of a warp touch.
    double sectorsAfter = 0;  ///< The same with whole records copied side by side.

    [[nodiscard]] std::int64_t bytes() const { return words * wordBytes; }
    /// Words from a record to the next in shared memory: odd, so that lanes go to different banks.
    [[nodiscard]] std::int64_t pitch() const { return words | 1; }
};

struct RecordArrays {
    RowGuard guard;
    std::vector<RecordArray> arrays; ///< Not empty.
};

/// Finds the arrays that are worth staging. Refuses with the first reason that an array has:
/// `no-records`, `not-own-record`, `small-elements`, `one-load`, `moved-pointer`, `whole-array`,
/// `from-macro`, `record-number`, `conditional-records`, `record-ends`, `partial-records`,
/// `few-fields`, `small-part`, and with what rowGuard() refuses with.
[[nodiscard]] Gated<RecordArrays> recordArrays(const SkillContext& context);

} // namespace kernelskill::skills
