/// A cursor or selection that notes which other cursors would get the same answers.
#pragma once

#include "analysis/source/source_text.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace kernelskill::skills {

/// A set of cursors. Every question that was asked so far has one answer for all of them.
class AlikeCursors {
public:
    [[nodiscard]] bool contains(analysis::Span cursor) const {
        return begin_.contains(cursor.begin) && end_.contains(cursor.end);
    }
    /// Removes the cursors that `other` does not contain.
    void narrow(const AlikeCursors& other) {
        begin_.narrow(other.begin_);
        end_.narrow(other.end_);
    }

private:
    friend class Cursor;

    /// The offsets from `first` to `last`, both included.
    struct Offsets {
        std::uint32_t first = 0;
        std::uint32_t last = std::numeric_limits<std::uint32_t>::max();

        [[nodiscard]] bool contains(std::uint32_t offset) const {
            return first <= offset && offset <= last;
        }
        void narrow(const Offsets& other) {
            first = std::max(first, other.first);
            last = std::min(last, other.last);
        }
        /// Whether `offset`, which is one of these, lies before `bound`. Removes the offsets for
        /// which the answer is another.
        bool isBefore(std::uint32_t offset, std::uint32_t bound) {
            if (offset < bound) {
                last = std::min(last, bound - 1);
                return true;
            }
            first = std::max(first, bound);
            return false;
        }
    };
    Offsets begin_; ///< The offsets at which the cursors may begin.
    Offsets end_;   ///< The offsets at which they may end.
};

/// Callers learn the position by comparisons alone, so that an answer for one cursor is known to
/// hold for others. For one thread: each question changes the notes.
class Cursor {
public:
    explicit Cursor(analysis::Span span) : span_(span) {}

    [[nodiscard]] bool beginsBefore(std::uint32_t offset) const {
        return alike_.begin_.isBefore(span_.begin, offset);
    }
    [[nodiscard]] bool endsBefore(std::uint32_t offset) const {
        return alike_.end_.isBefore(span_.end, offset);
    }
    /// Whether it is in `place`, at an end of it, or a selection that overlaps it.
    [[nodiscard]] bool touches(analysis::Span place) const {
        return !endsBefore(place.begin) && beginsBefore(place.end + 1);
    }
    /// Whether it is a selection of at least `place`.
    [[nodiscard]] bool holds(analysis::Span place) const {
        return beginsBefore(place.begin + 1) && !endsBefore(place.end);
    }
    /// Whether it begins at an offset of `place`, the end not included.
    [[nodiscard]] bool beginsIn(analysis::Span place) const {
        return !beginsBefore(place.begin) && beginsBefore(place.end);
    }

    /// The cursors that would have got the same answers so far.
    [[nodiscard]] const AlikeCursors& alike() const { return alike_; }
    /// Returns alike(), and forgets the questions.
    [[nodiscard]] AlikeCursors takeAlike() const { return std::exchange(alike_, {}); }
    /// Counts the questions behind `others` as asked of this cursor.
    void noteAlike(const AlikeCursors& others) const { alike_.narrow(others); }

private:
    friend class HeldValues;

    analysis::Span span_;
    mutable AlikeCursors alike_;
};

} // namespace kernelskill::skills
