! Like linked.cc, in Fortran: contained procedures, recursion, and the library's formatted output.
module work
  implicit none
  integer, volatile :: sink = 0
contains
  subroutine hot_loop(value)
    integer, intent(inout) :: value
    integer :: i
    do i = 1, 5000
      value = ieor(value * 1664525, i)
    end do
    sink = value
  end subroutine

  recursive subroutine descend(depth, value)
    integer, intent(in) :: depth
    integer, intent(inout) :: value
    integer, volatile :: room(20)
    room(mod(depth, 20) + 1) = depth
    if (depth == 0) then
      call hot_loop(value)
    else
      call descend(depth - 1, value)
    end if
    value = value + room(mod(depth, 20) + 1)
  end subroutine

  subroutine write_numbers(value)
    integer, intent(in) :: value
    character(len=20) :: text
    integer :: i
    do i = 1, 5
      write (text, '(F12.4)') value * 1.5d0 + i
      sink = len_trim(text)
    end do
  end subroutine

  subroutine run_once(value)
    integer, intent(inout) :: value
    call descend(10, value)
    call descend(3, value)
    call write_numbers(value)
  end subroutine
end module

program linked
  use work
  implicit none
  integer :: value = 1
  real :: now
  now = 0
  do while (now < 0.5)
    call run_once(value)
    call cpu_time(now)
  end do
end program
