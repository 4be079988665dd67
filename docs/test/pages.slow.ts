import { allPages, takesLong, testPages } from './pages.ts';

testPages(allPages().filter(takesLong));
