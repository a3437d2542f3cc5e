// Stand-in for the header of the same name in an HLS compiler: 128-bit ap_int and ap_uint with the operators that
// hls/engine/integers.hpp names. Lets plain g++ check that the arithmetic compiles, and gives the same bits, when its
// wide integers are a class. Relies on the compiler's own 128-bit integer.
#pragma once

namespace stand_in {

template <typename Native>
class WideInteger {
 public:
  WideInteger() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): integers convert implicitly, as in the real class
  template <typename Integer>
  WideInteger(Integer value) : value_(static_cast<Native>(value)) {}
  template <typename Other>
  WideInteger(const WideInteger<Other>& other) : value_(static_cast<Native>(other.native())) {}

  template <typename Integer>
  explicit operator Integer() const {
    return static_cast<Integer>(value_);
  }
  Native native() const { return value_; }

  WideInteger operator-() const { return WideInteger(-value_); }
  WideInteger operator<<(int shift) const { return WideInteger(static_cast<Native>(value_ << shift)); }
  WideInteger operator>>(int shift) const { return WideInteger(static_cast<Native>(value_ >> shift)); }
  friend WideInteger operator+(const WideInteger& a, const WideInteger& b) { return WideInteger(a.value_ + b.value_); }
  friend WideInteger operator-(const WideInteger& a, const WideInteger& b) { return WideInteger(a.value_ - b.value_); }
  friend WideInteger operator*(const WideInteger& a, const WideInteger& b) { return WideInteger(a.value_ * b.value_); }
  friend WideInteger operator&(const WideInteger& a, const WideInteger& b) { return WideInteger(a.value_ & b.value_); }
  friend WideInteger operator^(const WideInteger& a, const WideInteger& b) { return WideInteger(a.value_ ^ b.value_); }
  friend bool operator==(const WideInteger& a, const WideInteger& b) { return a.value_ == b.value_; }
  friend bool operator!=(const WideInteger& a, const WideInteger& b) { return a.value_ != b.value_; }
  friend bool operator<(const WideInteger& a, const WideInteger& b) { return a.value_ < b.value_; }
  friend bool operator>(const WideInteger& a, const WideInteger& b) { return a.value_ > b.value_; }

 private:
  Native value_ = 0;
};

__extension__ typedef __int128 Signed128;             // NOLINT(modernize-use-using): only a typedef takes __extension__
__extension__ typedef unsigned __int128 Unsigned128;  // NOLINT(modernize-use-using)

template <int Width, typename Native>
struct OnlyWidth128 {
  static_assert(Width == 128, "this stand-in has the one width that the engine uses");
  using Type = WideInteger<Native>;
};

}  // namespace stand_in

template <int Width>
using ap_int = typename stand_in::OnlyWidth128<Width, stand_in::Signed128>::Type;
template <int Width>
using ap_uint = typename stand_in::OnlyWidth128<Width, stand_in::Unsigned128>::Type;
