import { allPages, isReadFirst, testPages } from './pages.ts';

testPages(allPages().filter((page) => !isReadFirst(page)));
